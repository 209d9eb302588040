# Texts that are compiled into the program as strings, so that they do not depend on the place of installation.
function(opbench_embed file header variable)
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} OPBENCH_TEXT)
  set(OPBENCH_VARIABLE ${variable})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/${header} @ONLY CONTENT [[
#pragma once

inline constexpr char @OPBENCH_VARIABLE@[] = R"text(@OPBENCH_TEXT@)text";
]])
endfunction()

opbench_embed(judge/standards.yaml opbench_standards.h kStandardsYaml)
opbench_embed(judge/causes.yaml opbench_causes.h kCausesYaml)
opbench_embed(profiles/hot_spot_rules.yaml opbench_hot_spot_rules.h kHotSpotRulesYaml)
opbench_embed(compare/call.py.in opbench_call_py.h kCallPy)
opbench_embed(compare/call_test.cc.in opbench_call_test.h kCallTest)
opbench_embed(compare/leaning.cc.in opbench_leaning_test.h kLeaningTest)
opbench_embed(harness/plan/case_script.py.in opbench_case_script_py.h kCaseScriptPy)
