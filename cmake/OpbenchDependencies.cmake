# Every dependency is a Debian 12 package (see build.sh); the installed package includes this file too.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
find_dependency(Eigen3 3.4 NO_MODULE)
find_dependency(TBB)
find_dependency(hwy CONFIG)
find_dependency(fmt)
# Only C++, so that projects without C find it too. Its list of libraries contains the C library, for which the module
# then creates no target.
find_dependency(HDF5 COMPONENTS CXX)
if(NOT TARGET hdf5::hdf5)
  set(hdf5_c_libraries ${HDF5_CXX_LIBRARIES})
  list(FILTER hdf5_c_libraries INCLUDE REGEX "/libhdf5(_serial)?\\.")
  add_library(hdf5::hdf5 INTERFACE IMPORTED)
  target_link_libraries(hdf5::hdf5 INTERFACE ${hdf5_c_libraries})
  target_include_directories(hdf5::hdf5 INTERFACE ${HDF5_CXX_INCLUDE_DIRS})
endif()
find_dependency(ZLIB)
find_dependency(Protobuf)
find_dependency(benchmark)
find_dependency(yaml-cpp)
find_dependency(nlohmann_json)
find_dependency(simdjson)
find_dependency(CLI11)
# Debian's package has no CMake configuration.
if(NOT TARGET re2::re2)
  find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
  find_library(RE2_LIBRARY re2 REQUIRED)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION "${RE2_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE_DIR}")
endif()

if(NOT TARGET minizip::minizip)
  find_path(MINIZIP_INCLUDE_DIR minizip/unzip.h REQUIRED)
  find_library(MINIZIP_LIBRARY minizip REQUIRED)
  add_library(minizip::minizip UNKNOWN IMPORTED)
  set_target_properties(minizip::minizip PROPERTIES IMPORTED_LOCATION "${MINIZIP_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${MINIZIP_INCLUDE_DIR}")
endif()

# oneDNN is optional: without it the `onednn` variants are absent and everything else works.
# Debian's package configuration fails without OpenCL's headers, so they are searched first.
find_package(OpenCL QUIET)
find_package(OpenMP QUIET COMPONENTS CXX)
if(OpenCL_FOUND)
  find_package(dnnl CONFIG QUIET)
endif()
