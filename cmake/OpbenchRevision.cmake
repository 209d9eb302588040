# Revision for result files, determined at every build; "unknown" outside a git checkout.
string(TOUPPER "${CMAKE_BUILD_TYPE}" OPBENCH_BUILD_TYPE)
set(OPBENCH_BUILD_INFO ${CMAKE_CURRENT_BINARY_DIR}/generated/opbench_build_info.h)
add_custom_target(opbench_build_info BYPRODUCTS ${OPBENCH_BUILD_INFO}
  COMMAND ${CMAKE_COMMAND}
    -D SOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR} -D OUTPUT=${OPBENCH_BUILD_INFO}
    -D VERSION=${PROJECT_VERSION} -D BUILD_TYPE=${CMAKE_BUILD_TYPE}
    -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -D "FLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${OPBENCH_BUILD_TYPE}} -ffp-contract=off"
    # Libraries whose headers do not state their version.
    -D YAML_CPP=${yaml-cpp_VERSION} -D BENCHMARK=${benchmark_VERSION} -D CLI11=${CLI11_VERSION}
    -P ${CMAKE_CURRENT_LIST_DIR}/write_build_info.cmake
  COMMENT "Looking up the revision" VERBATIM)
