# All third-party libraries, from Debian 12 packages (scripts/setup installs them).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(PSFM_PC REQUIRED IMPORTED_TARGET sqlite3 libcjson openblas lapacke arpack
                  libjpeg libpng libexif)
pkg_search_module(PSFM_HDF5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_path(VLFEAT_INCLUDE_DIR vl/covdet.h REQUIRED)
find_library(VLFEAT_LIBRARY vl REQUIRED)

add_library(psfm_dependencies INTERFACE)
target_include_directories(psfm_dependencies SYSTEM INTERFACE ${CHOLMOD_INCLUDE_DIR} ${VLFEAT_INCLUDE_DIR})
target_link_libraries(psfm_dependencies INTERFACE PkgConfig::PSFM_PC PkgConfig::PSFM_HDF5 ${CHOLMOD_LIBRARY}
                                                  ${VLFEAT_LIBRARY} gomp Threads::Threads m)

# The neural front end is optional: without oneDNN its functions say so when called.
option(PSFM_NEURAL "Use oneDNN, if it is there, for the neural front end" ON)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(DNNL_LIBRARY dnnl)
if(PSFM_NEURAL AND DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
  target_include_directories(psfm_dependencies SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
  target_compile_definitions(psfm_dependencies INTERFACE PSFM_HAVE_ONEDNN)
  target_link_libraries(psfm_dependencies INTERFACE ${DNNL_LIBRARY} gomp)
  set(PSFM_NEURAL_LIBS " -ldnnl")
else()
  message(STATUS "Without the neural front end (PSFM_NEURAL is off, or libdnnl-dev not found)")
endif()

# One source, three instruction sets, chosen at run time.
set(PSFM_KERNEL_FLAGS -O3 -ffp-contract=fast)
set_source_files_properties(src/nn/kernels_base.c PROPERTIES COMPILE_OPTIONS
                            "${PSFM_KERNEL_FLAGS}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  set_source_files_properties(src/nn/kernels_avx2.c PROPERTIES COMPILE_OPTIONS
                              "${PSFM_KERNEL_FLAGS};-mavx2;-mfma")
  set_source_files_properties(src/nn/kernels_avx512.c PROPERTIES COMPILE_OPTIONS
                              "${PSFM_KERNEL_FLAGS};-mavx512f;-mavx512vl;-mavx512dq;-mavx2;-mfma")
endif()
