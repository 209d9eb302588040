# Uses ccache if it is installed. ccache must accept precompiled headers, and all clones of the sources must share its
# results: paths are hashed relative to the clone.
option(OPBENCH_CCACHE "Compile through ccache where it is installed" ON)
find_program(OPBENCH_CCACHE_PROGRAM ccache)
if(OPBENCH_CCACHE AND OPBENCH_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${OPBENCH_CCACHE_PROGRAM})
endif()
