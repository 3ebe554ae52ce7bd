# All third-party libraries, from Debian 12 packages (scripts/setup installs them).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(PSFM_PC REQUIRED IMPORTED_TARGET sqlite3 libcjson openblas lapacke arpack
                  libjpeg libpng libexif)
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_path(VLFEAT_INCLUDE_DIR vl/covdet.h REQUIRED)
find_library(VLFEAT_LIBRARY vl REQUIRED)

add_library(psfm_dependencies INTERFACE)
target_include_directories(psfm_dependencies SYSTEM INTERFACE ${CHOLMOD_INCLUDE_DIR} ${VLFEAT_INCLUDE_DIR})
target_link_libraries(psfm_dependencies INTERFACE PkgConfig::PSFM_PC ${CHOLMOD_LIBRARY}
                                                  ${VLFEAT_LIBRARY} gomp Threads::Threads m)
