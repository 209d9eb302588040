# The portable program, portable/opbench: the objects of opbench, linked for machines without Debian's libraries. HDF5 is
# linked statically, because Debian's shared one needs 30 libraries of curl. The component `portable` installs the program
# in bin/ and its other libraries in lib/, all but those of glibc.

# HDF5 by the target that links: static where the target has the property OPBENCH_STATIC_HDF5.
set(OPBENCH_HDF5 "")
foreach(library hdf5_cpp hdf5)
  list(APPEND OPBENCH_HDF5
       $<IF:$<BOOL:$<TARGET_PROPERTY:OPBENCH_STATIC_HDF5>>,opbench_static_hdf5,hdf5::${library}>)
endforeach()

# Prints a message and adds no target where a static library is missing.
function(opbench_add_portable_program)
  set(static_libraries "")
  foreach(library hdf5_cpp hdf5 sz aec)
    find_library(OPBENCH_STATIC_${library} NAMES lib${library}.a lib${library}_serial.a PATH_SUFFIXES hdf5/serial)
    mark_as_advanced(OPBENCH_STATIC_${library})
    if(NOT OPBENCH_STATIC_${library})
      message(STATUS "lib${library}.a not found: the portable program is left out")
      return()
    endif()
    list(APPEND static_libraries ${OPBENCH_STATIC_${library}})
  endforeach()
  add_library(opbench_static_hdf5 INTERFACE)
  target_link_libraries(opbench_static_hdf5 INTERFACE ${static_libraries} ZLIB::ZLIB ${CMAKE_DL_LIBS})

  add_executable(opbench_portable $<TARGET_OBJECTS:opbench>)
  target_link_libraries(opbench_portable PRIVATE opbench_library)
  # RPATH instead of RUNPATH: it also holds for the libraries of the libraries, and LD_LIBRARY_PATH does not replace them.
  target_link_options(opbench_portable PRIVATE LINKER:--disable-new-dtags)
  file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(opbench_portable PROPERTIES
    OUTPUT_NAME opbench RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/portable OPBENCH_STATIC_HDF5 ON
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH $ORIGIN/${from_program} LINKER_LANGUAGE CXX)
  # The tests of the packages need it.
  if(NOT OPBENCH_TESTS OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    set_target_properties(opbench_portable PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  install(TARGETS opbench_portable RUNTIME_DEPENDENCY_SET opbench_portable_libraries
          RUNTIME COMPONENT portable EXCLUDE_FROM_ALL)
  install(RUNTIME_DEPENDENCY_SET opbench_portable_libraries
          PRE_EXCLUDE_REGEXES "^(ld-linux|lib(c|m|dl|rt|pthread|resolv)\\.so)"
          LIBRARY COMPONENT portable EXCLUDE_FROM_ALL)
endfunction()
