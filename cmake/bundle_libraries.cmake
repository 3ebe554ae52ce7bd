# Run at installation: copies all libraries that `program` and `libraries` need, but for our own and
# those of the C library, which belong to the machine, and the licence of each as Debian has it.
set(prefix $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} LIBRARIES ${libraries}
     RESOLVED_DEPENDENCIES_VAR needed
     PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|resolv|util|anl|nsl)[.]so" "^ld-linux" "^libplanarsfm")
file(MAKE_DIRECTORY ${prefix}/${licence_folder})
foreach(path ${needed})
  get_filename_component(name ${path} NAME)
  execute_process(COMMAND ${CMAKE_COMMAND} -E copy ${path} ${prefix}/${library_folder}/${name}
                  RESULT_VARIABLE failure)
  if(failure)
    message(FATAL_ERROR "${path} cannot be copied")
  endif()
  get_filename_component(real ${path} REALPATH)
  get_filename_component(real ${real} NAME)
  execute_process(COMMAND dpkg-query -S "*/${real}" OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:]+):")
    execute_process(COMMAND ${CMAKE_COMMAND} -E copy /usr/share/doc/${CMAKE_MATCH_1}/copyright
                            ${prefix}/${licence_folder}/${CMAKE_MATCH_1}.txt)
  else()
    message(WARNING "${name}: no package has it, its licence is not copied")
  endif()
endforeach()
