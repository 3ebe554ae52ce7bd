# A folder that can be moved to another machine: the command and the library look for the other libraries
# beside them. DT_RPATH and not DT_RUNPATH, because it also holds for the libraries that libraries need.
set_target_properties(planarsfm PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set_target_properties(planarsfm_core_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
foreach(target planarsfm planarsfm_core_shared planarsfm_shared)
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
endforeach()
install(CODE "set(program \"$<TARGET_FILE:planarsfm>\")
set(libraries \"$<TARGET_FILE:planarsfm_core_shared>\" \"$<TARGET_FILE:planarsfm_shared>\")
set(library_folder ${CMAKE_INSTALL_LIBDIR})
set(licence_folder ${CMAKE_INSTALL_DOCDIR}/licences)")
install(SCRIPT cmake/bundle_libraries.cmake)
