# The page of `opbench report --html`: template, style and script modules become two strings, the parts before and after
# the data. Modules share one scope in the page: `import` lines and the word `export` are removed, so names must differ.
# The page may run this script only: its policy contains the script's hash.
set(OPBENCH_PAGE_MODULES dom format scale chart treemap table export detail pareto dispatch run_digest run_charts run
    context_graph context error_map compare_detail compare judge check history ingest tabs summary app)

# Converts a hexadecimal hash to "sha256-..." in base64 for a content security policy, six digits at a time.
function(opbench_base64_of_hex hex result)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(APPEND hex "00")  # of 64 digits, the last group lacks one byte
  set(text "")
  foreach(begin RANGE 0 60 6)
    string(SUBSTRING "${hex}" ${begin} 6 group)
    math(EXPR number "0x${group}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${number} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 character)
      string(APPEND text ${character})
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${result} "${text}=" PARENT_SCOPE)
endfunction()

function(opbench_embed_page)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/harness/report)
  set(script "'use strict';\n(() => {\n")
  foreach(module IN LISTS OPBENCH_PAGE_MODULES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/script/${module}.js)
    file(READ ${folder}/script/${module}.js text)
    string(REGEX REPLACE "(^|\n)import [^\n]*" "" text "${text}")
    string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
    string(APPEND script "${text}")
  endforeach()
  string(APPEND script "})();\n")
  foreach(file page.html page.css)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
  endforeach()
  file(READ ${folder}/page.css style)
  file(READ ${folder}/page.html page)
  string(SHA256 hash "${script}")
  opbench_base64_of_hex(${hash} hash)
  string(REPLACE "{{script-hash}}" "${hash}" page "${page}")
  string(REPLACE "{{style}}" "${style}" page "${page}")
  string(FIND "${page}" "{{data}}" place)
  string(SUBSTRING "${page}" 0 ${place} OPBENCH_PAGE_HEAD)
  math(EXPR place "${place} + 8")
  string(SUBSTRING "${page}" ${place} -1 OPBENCH_PAGE_TAIL)
  string(REPLACE "{{script}}" "${script}" OPBENCH_PAGE_TAIL "${OPBENCH_PAGE_TAIL}")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/opbench_page.h @ONLY CONTENT [[
#pragma once

inline constexpr char kPageHead[] = R"page(@OPBENCH_PAGE_HEAD@)page";
inline constexpr char kPageTail[] = R"page(@OPBENCH_PAGE_TAIL@)page";
]])
endfunction()

opbench_embed_page()
