# Debian packages, made by `cpack -G DEB`: opbench, opbench-mpi and libopbench-dev. dpkg-shlibdeps finds the packages of
# the shared libraries that they need.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_PACKAGE_CONTACT "opbench maintainers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program data mpi development)
if(NOT TARGET opbench_mpi)
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)

set(CPACK_COMPONENT_PROGRAM_GROUP opbench)
set(CPACK_COMPONENT_DATA_GROUP opbench)
set(CPACK_DEBIAN_OPBENCH_PACKAGE_NAME opbench)
set(CPACK_COMPONENT_OPBENCH_DESCRIPTION "Benchmark and accuracy comparison of operators for NPUs
 Times operators, checks their results against references, and compares the
 dumps of two devices.")
set(CPACK_DEBIAN_OPBENCH_PACKAGE_SUGGESTS opbench-mpi)

set(CPACK_DEBIAN_MPI_PACKAGE_NAME opbench-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "opbench (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_MPI_DESCRIPTION "MPI module of opbench
 Lets mpirun start opbench on several machines.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libopbench-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# The packages of what OpbenchDependencies.cmake looks for.
set(packages "opbench (= ${PROJECT_VERSION})" libeigen3-dev libtbb-dev libhwy-dev libfmt-dev libhdf5-dev zlib1g-dev
    libprotobuf-dev libbenchmark-dev libyaml-cpp-dev nlohmann-json3-dev libsimdjson-dev libcli11-dev libre2-dev
    libminizip-dev)
if(TARGET opbench_kernels_onednn)
  list(APPEND packages libdnnl-dev ocl-icd-opencl-dev opencl-c-headers)
endif()
list(JOIN packages ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Libraries and headers of opbench
 For programs with operators and kernels of their own. CMake finds them with
 find_package(opbench).")
include(CPack)
