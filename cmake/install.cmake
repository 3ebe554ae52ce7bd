install(TARGETS planarsfm_shared planarsfm_static
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS planarsfm DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/planarsfm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_file(cmake/planarsfm.pc.in planarsfm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/planarsfm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/planarsfm-config.cmake.in planarsfm-config.cmake
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/planarsfm)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/planarsfm-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/planarsfm-config.cmake
              ${PROJECT_BINARY_DIR}/planarsfm-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/planarsfm)
