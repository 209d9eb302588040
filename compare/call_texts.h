#pragma once

#include <string>

#include "compare/witness_origin.h"

namespace opbench {

/// A Python script that compares the recorded output, or the result of torch, with the reference
/// and prints PASS or FAIL. It needs no other file. It needs torch only to compute.
std::string torch_script(const WitnessOrigin& origin, const Witness& witness);

/// A test with the numbers, the bound, and a function output() for the user's own kernel. It needs
/// GoogleTest but no other file.
std::string googletest_file(const WitnessOrigin& origin, const Witness& witness);

/// The finding in Markdown, with the commands to run.
std::string readme(const WitnessOrigin& origin, const Witness& witness);

}  // namespace opbench
