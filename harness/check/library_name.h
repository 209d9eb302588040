#pragma once

#include <string>

namespace opbench::check {

/// Is this a function that the headers of a library alone have made: the standard's, fmt's or
/// another of those that opbench is made with? Not when a type of anybody else's is in its name, as
/// in std::sort over a comparison: that one's code is in it. `mangled`: as in a program's symbols.
bool is_of_library(const std::string& mangled);

}  // namespace opbench::check
