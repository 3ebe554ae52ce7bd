# All third-party libraries; scripts/packages.txt has the names of their packages. What is looked for by
# more than one name is called differently by Debian, Fedora and Homebrew.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
# CHOLMOD brings OpenMP along, whose threads we keep off. Apple's compiler has none of its own.
if(APPLE)
  find_library(PSFM_OPENMP omp REQUIRED PATHS /opt/homebrew/opt/libomp/lib /usr/local/opt/libomp/lib)
  set(PSFM_PC_OPENMP -lomp)
else()
  set(PSFM_OPENMP gomp)
  set(PSFM_PC_OPENMP -lgomp)
endif()

# ---- the core's: linear algebra and threads; LAPACKE is a library of its own, or part of OpenBLAS ----
set(PSFM_CORE_PC_MODULES openblas)
pkg_check_modules(PSFM_LAPACKE QUIET lapacke)
if(PSFM_LAPACKE_FOUND)
  list(APPEND PSFM_CORE_PC_MODULES lapacke)
endif()
pkg_check_modules(PSFM_CORE_PC REQUIRED IMPORTED_TARGET ${PSFM_CORE_PC_MODULES})
add_library(psfm_core_dependencies INTERFACE)
target_include_directories(psfm_core_dependencies SYSTEM INTERFACE ${CHOLMOD_INCLUDE_DIR})
# OpenMP after the library that uses it, as static linking wants it.
target_link_libraries(psfm_core_dependencies INTERFACE PkgConfig::PSFM_CORE_PC ${CHOLMOD_LIBRARY} ${PSFM_OPENMP}
                      Threads::Threads m)

# ---- the library's over it ----
set(PSFM_PC_MODULES sqlite3 libcjson libjpeg libpng libexif)
pkg_check_modules(PSFM_PC REQUIRED IMPORTED_TARGET ${PSFM_PC_MODULES})
add_library(psfm_dependencies INTERFACE)
target_link_libraries(psfm_dependencies INTERFACE PkgConfig::PSFM_PC)
set(PSFM_PC_LIBS)

pkg_search_module(PSFM_HDF5 IMPORTED_TARGET hdf5-serial hdf5)
if(PSFM_HDF5_FOUND)
  target_link_libraries(psfm_dependencies INTERFACE PkgConfig::PSFM_HDF5)
  list(APPEND PSFM_PC_MODULES ${PSFM_HDF5_MODULE_NAME})
else()
  find_package(HDF5 REQUIRED COMPONENTS C)
  target_include_directories(psfm_dependencies SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
  target_link_libraries(psfm_dependencies INTERFACE ${HDF5_LIBRARIES})
  list(APPEND PSFM_PC_LIBS -lhdf5)
endif()

# psfm_choose(OPTION NAME HEADER LIBRARY WITHOUT): a library to go without. If it is there and the option
# on, sources see PSFM_HAVE_NAME.
function(psfm_choose option name header library without)
  option(${option} "Use ${name}, if it is there" ON)
  find_path(${name}_INCLUDE_DIR ${header})
  find_library(${name}_LIBRARY ${library})
  if(NOT ${option} OR NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY)
    message(STATUS "Without ${name} (${option} is off, or it was not found): ${without}")
    return()
  endif()
  target_include_directories(psfm_dependencies SYSTEM INTERFACE ${${name}_INCLUDE_DIR})
  target_compile_definitions(psfm_dependencies INTERFACE PSFM_HAVE_${name})
  target_link_libraries(psfm_dependencies INTERFACE ${${name}_LIBRARY})
  set(PSFM_PC_LIBS ${PSFM_PC_LIBS} -l${library} PARENT_SCOPE)
endfunction()
psfm_choose(PSFM_ONEDNN ONEDNN oneapi/dnnl/dnnl.h dnnl "OpenBLAS multiplies the networks' matrices")
psfm_choose(PSFM_TIFF TIFF tiffio.h tiff "no TIFF photographs")
psfm_choose(PSFM_HEIF HEIF libheif/heif.h heif "no HEIC photographs")

# Runs on more than one machine. A folder that is moved to other machines cannot bring their MPI along.
option(PSFM_MPI "Use MPI, if it is there" ON)
if(PSFM_MPI AND NOT PSFM_BUNDLE)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(NOT PSFM_MPI OR NOT MPI_C_FOUND)
  message(STATUS "Without MPI (PSFM_MPI is off, or it was not found): one machine a run")
endif()

# After the libraries that use it, as static linking wants it.
target_link_libraries(psfm_dependencies INTERFACE psfm_core_dependencies)
foreach(list PSFM_PC_LIBS PSFM_PC_MODULES PSFM_CORE_PC_MODULES)
  list(JOIN ${list} " " ${list})
endforeach()

# One source, three instruction sets, chosen at run time.
set(PSFM_KERNEL_FLAGS -O3 -ffp-contract=fast)
set_source_files_properties(src/images/nn/kernels_base.c PROPERTIES COMPILE_OPTIONS
                            "${PSFM_KERNEL_FLAGS}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  set_source_files_properties(src/images/nn/kernels_avx2.c PROPERTIES COMPILE_OPTIONS
                              "${PSFM_KERNEL_FLAGS};-mavx2;-mfma")
  set_source_files_properties(src/images/nn/kernels_avx512.c PROPERTIES COMPILE_OPTIONS
                              "${PSFM_KERNEL_FLAGS};-mavx512f;-mavx512vl;-mavx512dq;-mavx2;-mfma")
endif()

# The same, but equal in every bit: nothing is contracted.
set(PSFM_EXACT_FLAGS -O3 -ffp-contract=off)
set_source_files_properties(src/images/photometric/patch_kernel.c PROPERTIES COMPILE_OPTIONS
                            "${PSFM_EXACT_FLAGS}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  set_source_files_properties(src/images/photometric/patch_kernel_avx2.c PROPERTIES COMPILE_OPTIONS
                              "${PSFM_EXACT_FLAGS};-mavx2")
  set_source_files_properties(src/images/photometric/patch_kernel_avx512.c PROPERTIES COMPILE_OPTIONS
                              "${PSFM_EXACT_FLAGS};-mavx512f;-mavx512bw;-mavx512vl;-mprefer-vector-width=512")
endif()
