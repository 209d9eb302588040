# Helpers that turn a folder into a target. Sources are globbed so that an operator, a variant or a test
# is added by dropping in a file.

function(opbench_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=${OPBENCH_DISABLED_TARGETS}")
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow $<$<BOOL:${OPBENCH_WERROR}>:-Werror>
    # The same bits from every compiler and instruction set: a fused multiply-add is written, not found.
    -ffp-contract=off)
endfunction()

# The static library of one folder.
function(opbench_add_objects target folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  # Only dump/ sees HDF5: these headers stay inside.
  list(FILTER headers EXCLUDE REGEX "/hdf5_(attributes|dataset|describe|errors|handle|layout|scan|server|stored)\\.h$")
  add_library(${target} STATIC ${sources})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  opbench_compile_options(${target})
  set_property(GLOBAL APPEND PROPERTY OPBENCH_TARGETS ${target})
endfunction()

# opbench_add_library(folder PUBLIC deps... PRIVATE deps...)
function(opbench_add_library folder)
  opbench_add_objects(opbench_${folder} ${folder})
  target_link_libraries(opbench_${folder} ${ARGN})
endfunction()

# The same for folders whose objects register themselves: whoever links opbench_<folder> gets all objects of
# opbench_<folder>_code, although nothing refers to them by name.
function(opbench_add_registering_library folder)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  opbench_add_objects(opbench_${folder}_code ${folder})
  target_link_libraries(opbench_${folder}_code PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  # By its exported name, which CMake does not add inside this expression.
  add_library(opbench::opbench_${folder}_code ALIAS opbench_${folder}_code)
  add_library(opbench_${folder} INTERFACE)
  target_link_libraries(opbench_${folder} INTERFACE
    ${arg_PUBLIC} $<LINK_LIBRARY:WHOLE_ARCHIVE,opbench::opbench_${folder}_code>)
  set_property(GLOBAL APPEND PROPERTY OPBENCH_TARGETS opbench_${folder})
endfunction()

# The oneDNN variants join the kernels where the library is there.
function(opbench_add_onednn_peers)
  if(NOT dnnl_FOUND OR NOT OpenMP_CXX_FOUND)
    message(STATUS "oneDNN not found: the `onednn` variants are left out")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/onednn/*.cc)
  target_sources(opbench_kernels_code PRIVATE ${sources})
  target_compile_definitions(opbench_kernels_code PRIVATE OPBENCH_HAS_ONEDNN)
  target_link_libraries(opbench_kernels_code PRIVATE DNNL::dnnl OpenMP::OpenMP_CXX)
endfunction()
