install(TARGETS planarsfm_core_shared planarsfm_core_static planarsfm_shared planarsfm_static
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS planarsfm DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/planarsfm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PSFM_MAN_DIR}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1")
set(PSFM_PYTHON_DIR lib/python3/dist-packages CACHE STRING
    "Folder for the Python module, below the prefix")
install(DIRECTORY python/planarsfm DESTINATION ${PSFM_PYTHON_DIR}
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
install(FILES LICENSE docs/example.c DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.c")

# The .pc file finds the prefix from its own place, so that a package can be moved.
file(RELATIVE_PATH PSFM_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name planarsfm planarsfm-core)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(cmake/planarsfm-config.cmake.in planarsfm-config.cmake
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/planarsfm)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/planarsfm-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/planarsfm-config.cmake
              ${PROJECT_BINARY_DIR}/planarsfm-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/planarsfm)
