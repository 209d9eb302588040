# Every dependency is a Debian 12 package (see build.sh); the installed package includes this file too.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
find_dependency(Eigen3 3.4 NO_MODULE)
find_dependency(TBB)
find_dependency(hwy CONFIG)
find_dependency(fmt)
find_dependency(HDF5 COMPONENTS C CXX)
find_dependency(benchmark)
find_dependency(yaml-cpp)
find_dependency(nlohmann_json)
find_dependency(CLI11)

# oneDNN is optional: without it the `onednn` variants are absent and everything else works.
# Debian's package configuration stops hard without OpenCL's headers, so they are looked for first.
find_package(OpenCL QUIET)
find_package(OpenMP QUIET COMPONENTS CXX)
if(OpenCL_FOUND)
  find_package(dnnl CONFIG QUIET)
endif()
