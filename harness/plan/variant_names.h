#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace opbench {

/// True if one of `wanted` is the kernel's name or that of its family, or if there is none.
bool is_wanted(const Kernel& kernel, const std::vector<std::string>& wanted);

/// What `--variant` may name for these operators: kernels, their families, and the reference.
std::set<std::string> variant_names(const std::set<const Op*>& ops);

/// A variant that nothing has is a typing error, not an empty result. Errors: throws Error that
/// suggests one of `known`.
void check_variant_names(const std::vector<std::string>& wanted,
                         const std::set<std::string>& known);

}  // namespace opbench
