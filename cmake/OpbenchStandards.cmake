# compare/standard/standards.yaml as a string of the program, so that it works wherever it is installed.
set(OPBENCH_STANDARDS_FILE ${CMAKE_CURRENT_SOURCE_DIR}/compare/standard/standards.yaml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${OPBENCH_STANDARDS_FILE})
file(READ ${OPBENCH_STANDARDS_FILE} OPBENCH_STANDARDS)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/opbench_standards.h @ONLY CONTENT [[
#pragma once

inline constexpr char kStandardsYaml[] = R"yaml(@OPBENCH_STANDARDS@)yaml";
]])
