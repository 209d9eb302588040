#pragma once

#include <string>

#include "compare/witness_origin.h"

namespace opbench {

/// A Python script that computes the call with torch, or takes the recorded output, holds it to the
/// reference within the bound, and prints PASS or FAIL. It needs no other file, and torch only to
/// compute.
std::string torch_script(const WitnessOrigin& origin, const Witness& witness);

/// A test that needs GoogleTest and no other file: the numbers, the bound, and a function output()
/// for a kernel of one's own.
std::string googletest_file(const WitnessOrigin& origin, const Witness& witness);

/// What was found, in Markdown, and the lines to run.
std::string readme(const WitnessOrigin& origin, const Witness& witness);

/// How torch computes the operator (KnownAs::torch), of the inputs `x`, the attributes `a`, SHAPE
/// and DTYPE; empty if it does not.
std::string torch_expression(const Op& op);

}  // namespace opbench
