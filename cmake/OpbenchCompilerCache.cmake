# ccache is used where it is installed. It must be told that precompiled headers are fine to keep.
option(OPBENCH_CCACHE "Compile through ccache where it is installed" ON)
find_program(OPBENCH_CCACHE_PROGRAM ccache)
if(OPBENCH_CCACHE AND OPBENCH_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${OPBENCH_CCACHE_PROGRAM})
endif()
