cmake_minimum_required(VERSION 3.25)
# Writes the header with data that is known only at build time. Does not touch an unchanged file.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT revision)
  set(revision unknown)
endif()
string(STRIP "${FLAGS}" flags)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#pragma once

inline constexpr char kOpbenchVersion[] = "@VERSION@";
inline constexpr char kOpbenchRevision[] = "@revision@";
inline constexpr char kOpbenchBuildType[] = "@BUILD_TYPE@";
inline constexpr char kOpbenchCompiler[] = "@COMPILER@";
inline constexpr char kOpbenchFlags[] = "@flags@";
inline constexpr char kYamlCppVersion[] = "@YAML_CPP@";
inline constexpr char kBenchmarkVersion[] = "@BENCHMARK@";
inline constexpr char kCli11Version[] = "@CLI11@";
]])
