# Helpers that turn a folder into a target. Sources are globbed, so that adding a file adds an operator, a variant or a
# test.
# Aligns functions to cache lines and loops to the processor's fetch blocks in timed code of releases.
set(OPBENCH_ALIGNED "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(OPBENCH_ALIGNED -falign-functions=64 -falign-loops=32)
endif()

# Precompiles the headers that most files include. All users must have equal flags, so it is built without the
# definitions of single targets. GCC takes the alignment of code from the precompiled header and ignores the command
# line, so aligned code has a separate one.
function(opbench_add_precompiled_headers)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/precompiled.cc CONTENT "")
  set(targets opbench_precompiled)
  if(OPBENCH_ALIGNED)
    list(APPEND targets opbench_precompiled_aligned)
  endif()
  foreach(target IN LISTS targets)
    add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/generated/precompiled.cc)
    opbench_compile_options(${target} PLAIN)
    target_link_libraries(${target} PRIVATE fmt::fmt)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional> <iomanip> <map> <memory> <numeric>
      <optional> <set> <span> <sstream> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>
      <fmt/format.h> <fmt/ranges.h>)
  endforeach()
  if(OPBENCH_ALIGNED)
    target_compile_options(opbench_precompiled_aligned PRIVATE ${OPBENCH_ALIGNED})
  endif()
endfunction()

# PLAIN: no precompiled headers.
function(opbench_compile_options target)
  cmake_parse_arguments(arg "PLAIN" "" "" ${ARGN})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=${OPBENCH_DISABLED_TARGETS}")
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow $<$<BOOL:${OPBENCH_WERROR}>:-Werror>
    # Equal objects in every clone: file names are relative to the top folder.
    -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
    # Equal results with every compiler and instruction set: fused multiply-adds must be explicit.
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  if(NOT arg_PLAIN AND OPBENCH_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM opbench_precompiled)
  endif()
endfunction()

# Library of the classes of a .proto file. Warnings are disabled for generated code.
function(opbench_add_proto target file)
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${generated}/${folder}/${name}.pb.cc ${generated}/${folder}/${name}.pb.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/${folder}
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated} ${file}
    DEPENDS ${PROJECT_SOURCE_DIR}/${file} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  add_library(${target} STATIC ${generated}/${folder}/${name}.pb.cc)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${generated}>)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf-lite)
  set_property(GLOBAL APPEND PROPERTY OPBENCH_TARGETS ${target})
endfunction()

# For code that runs once per case or per file: halves the compile time, and more optimisation gains nothing.
function(opbench_optimise_lightly)
  foreach(target IN LISTS ARGN)
    # GCC 12 reports wrong warnings about string bounds and variants without a value.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict>)
  endforeach()
endfunction()

# For timed code. Its speed then does not depend on its address.
function(opbench_align_code)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${OPBENCH_ALIGNED})
    if(OPBENCH_ALIGNED AND OPBENCH_PRECOMPILED_HEADERS)
      set_property(TARGET ${target} PROPERTY PRECOMPILE_HEADERS_REUSE_FROM opbench_precompiled_aligned)
    endif()
  endforeach()
endfunction()

# Compiles the files of each folder of a target in groups of eight, so that headers are read and instantiated once.
# Names in anonymous namespaces must therefore be unique within a folder. Files that Highway compiles once for each
# instruction set are excluded, and so are those in EXCEPT.
function(opbench_compile_together target)
  cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
  if(NOT OPBENCH_UNITY_BUILD)
    return()
  endif()
  list(TRANSFORM arg_EXCEPT PREPEND ${PROJECT_SOURCE_DIR}/)
  get_target_property(sources ${target} SOURCES)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC warns about a class with members of an anonymous namespace, although it is used in one file only.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  foreach(source IN LISTS sources)
    if(NOT IS_ABSOLUTE ${source} OR source IN_LIST arg_EXCEPT)
      continue()
    endif()
    file(STRINGS ${source} is_alone REGEX "foreach_target\\.h" LIMIT_COUNT 1)
    if(is_alone)
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(LENGTH files_of_${folder} before)
    list(APPEND files_of_${folder} ${source})
    math(EXPR group "${before} / 8")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
endfunction()

# Creates the static library of a folder and of its SUBFOLDERS: all its files EXCEPT some, or its FILES only.
function(opbench_add_objects target folder)
  cmake_parse_arguments(arg "PLAIN" "" "SUBFOLDERS;FILES;EXCEPT" ${ARGN})
  if(NOT arg_FILES)
    set(arg_FILES *.cc)
  endif()
  list(TRANSFORM arg_SUBFOLDERS APPEND /*.cc)
  list(TRANSFORM arg_SUBFOLDERS PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  list(TRANSFORM arg_FILES PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  list(TRANSFORM arg_EXCEPT PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  file(GLOB sources CONFIGURE_DEPENDS ${arg_FILES} ${arg_SUBFOLDERS})
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  if(arg_PLAIN)
    opbench_compile_options(${target} PLAIN)
  else()
    opbench_compile_options(${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY OPBENCH_TARGETS ${target})
endfunction()

# opbench_add_library(folder [SUBFOLDERS ...] [EXCEPT ...] PUBLIC deps... PRIVATE deps...). The target's name contains
# the path: harness/plan becomes opbench_harness_plan.
function(opbench_add_library folder)
  cmake_parse_arguments(arg "" "" "SUBFOLDERS;EXCEPT;PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  opbench_add_objects(opbench_${name} ${folder} SUBFOLDERS ${arg_SUBFOLDERS} EXCEPT ${arg_EXCEPT})
  target_link_libraries(opbench_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} fmt::fmt)
endfunction()

# Like opbench_add_library, for folders whose objects register themselves. Targets that link opbench_<folder> get all
# objects of opbench_<folder>_code, although no symbol of them is referenced.
function(opbench_add_registering_library folder)
  cmake_parse_arguments(arg "" "" "SUBFOLDERS;EXCEPT;PUBLIC;PRIVATE" ${ARGN})
  opbench_add_objects(opbench_${folder}_code ${folder} SUBFOLDERS ${arg_SUBFOLDERS} EXCEPT ${arg_EXCEPT})
  target_link_libraries(opbench_${folder}_code PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} fmt::fmt)
  # The exported name, which CMake does not add inside this expression.
  add_library(opbench::opbench_${folder}_code ALIAS opbench_${folder}_code)
  add_library(opbench_${folder} INTERFACE)
  target_link_libraries(opbench_${folder} INTERFACE
    ${arg_PUBLIC} $<LINK_LIBRARY:WHOLE_ARCHIVE,opbench::opbench_${folder}_code>)
  set_property(GLOBAL APPEND PROPERTY OPBENCH_TARGETS opbench_${folder})
endfunction()

# opbench::library, for other projects: the headers of opbench/ and all operators, kernels and commands.
function(opbench_add_public_library)
  opbench_add_objects(opbench_library opbench EXCEPT main.cc)
  set_target_properties(opbench_library PROPERTIES EXPORT_NAME library)
  target_include_directories(opbench_library INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/opbench/internal>)
  # Operators and kernels of other projects get equal results with equal flags.
  target_compile_options(opbench_library INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  target_link_libraries(opbench_library PUBLIC opbench_cli PRIVATE fmt::fmt)
endfunction()

# Registers the digests of a program's objects, of opbench and of TARGETS. With them the program finds code that is
# equal in another build. Generated between compiling and linking.
function(opbench_digest_code program)
  get_property(targets GLOBAL PROPERTY OPBENCH_TARGETS)
  list(APPEND targets ${ARGN})
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND libraries ${target})
      list(APPEND objects $<TARGET_OBJECTS:${target}>)
    endif()
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${program}_code.cc)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/generated/${program}_objects.txt)
  file(GENERATE OUTPUT ${list} CONTENT "$<JOIN:${objects},\n>\n")
  set(script ${PROJECT_SOURCE_DIR}/cmake/digest_code.sh)
  add_custom_command(OUTPUT ${output}
    COMMAND sh ${script} ${output} ${list} ${PROJECT_BINARY_DIR} "${CMAKE_NM}" "${CMAKE_STRIP}"
    DEPENDS ${libraries} ${list} ${script}
    COMMENT "Digesting the code of ${program}" VERBATIM)
  target_sources(${program} PRIVATE ${output})
endfunction()

# Adds the oneDNN variants to the kernels if the library exists. OpenMP's flag is incompatible with the precompiled
# headers.
function(opbench_add_onednn_peers)
  if(NOT dnnl_FOUND OR NOT OpenMP_CXX_FOUND)
    message(STATUS "oneDNN not found: the `onednn` variants are left out")
    return()
  endif()
  opbench_add_objects(opbench_kernels_onednn kernels/onednn PLAIN)
  opbench_optimise_lightly(opbench_kernels_onednn)  # oneDNN computes
  target_link_libraries(opbench_kernels_onednn PUBLIC opbench_kernel_registry PRIVATE DNNL::dnnl OpenMP::OpenMP_CXX fmt::fmt)
  add_library(opbench::opbench_kernels_onednn ALIAS opbench_kernels_onednn)
  target_link_libraries(opbench_kernels INTERFACE
    $<LINK_LIBRARY:WHOLE_ARCHIVE,opbench::opbench_kernels_onednn>)
  target_compile_definitions(opbench_kernel_registry PRIVATE OPBENCH_HAS_ONEDNN)
  target_link_libraries(opbench_kernel_registry PRIVATE DNNL::dnnl)
endfunction()

# MPI, if installed, is a module that the program loads when a launcher of MPI started it, because loading MPI takes as
# long as the rest of the start. The module is next to the program, or in a folder of libraries.
function(opbench_add_mpi_module)
  set(module opbench_mpi.so)
  file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/opbench)
  target_compile_definitions(opbench_workers PRIVATE OPBENCH_MPI_MODULE="${module}"
    OPBENCH_MODULE_FOLDER="${from_program}" OPBENCH_INSTALLED_MODULES="${CMAKE_INSTALL_FULL_LIBDIR}/opbench")
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    message(STATUS "MPI not found: opbench works in one process")
    return()
  endif()
  add_library(opbench_mpi MODULE ${PROJECT_SOURCE_DIR}/workers/mpi_transport.cc)
  set_target_properties(opbench_mpi PROPERTIES PREFIX "" OUTPUT_NAME opbench_mpi SUFFIX .so
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CXX_VISIBILITY_PRESET hidden)
  target_include_directories(opbench_mpi PRIVATE ${PROJECT_SOURCE_DIR})
  opbench_compile_options(opbench_mpi PLAIN)
  target_link_libraries(opbench_mpi PRIVATE MPI::MPI_CXX Threads::Threads)
  install(TARGETS opbench_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/opbench COMPONENT mpi)
endfunction()
