# The report's page becomes part of the library: src/report/assets.S includes these files as bytes.
# three.js (Debian: libjs-three) is optional; without it the report has no 3D view and says so.
enable_language(ASM)
option(PSFM_REPORT_3D "Put three.js, if it is there, into reports" ON)
find_file(PSFM_THREE_JS three.min.js PATHS /usr/share/javascript/three /usr/share/nodejs/three/build
          NO_DEFAULT_PATH)
set(web ${PROJECT_SOURCE_DIR}/web)
set(assets ${PROJECT_BINARY_DIR}/report)
file(MAKE_DIRECTORY ${assets})
if(PSFM_REPORT_3D AND PSFM_THREE_JS)
  set(three ${PSFM_THREE_JS})
else()
  message(STATUS "Without the 3D view of reports (PSFM_REPORT_3D is off, or libjs-three not found)")
  set(three ${assets}/no_three.js)
  file(WRITE ${three} "")
endif()

# The order is that of use: later files call earlier ones.
set(scripts)
foreach(name data charts planes lists panel scene3d outline ground overlap ellipsoids flight measure orbit view3d
             controls3d embedding matrix histograms findings tables court world fields cameras compare leftout print main)
  list(APPEND scripts ${web}/${name}.js)
endforeach()
add_custom_command(OUTPUT ${assets}/script.js
                   COMMAND ${CMAKE_COMMAND} "-DINPUTS=${scripts}" -DOUTPUT=${assets}/script.js
                           -P ${PROJECT_SOURCE_DIR}/cmake/join_files.cmake
                   DEPENDS ${scripts} ${PROJECT_SOURCE_DIR}/cmake/join_files.cmake VERBATIM)

set(source ${PROJECT_SOURCE_DIR}/src/report/assets.S)
set_source_files_properties(${source} PROPERTIES
  OBJECT_DEPENDS "${assets}/script.js;${web}/page.html;${web}/style.css;${three};${web}/three_licence.html"
  COMPILE_DEFINITIONS "PSFM_PAGE=\"${web}/page.html\";PSFM_STYLE=\"${web}/style.css\";PSFM_SCRIPT=\"${assets}/script.js\";PSFM_THREE=\"${three}\";PSFM_LICENCE=\"${web}/three_licence.html\"")
target_sources(psfm_objects PRIVATE ${source} ${assets}/script.js)
