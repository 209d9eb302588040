#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "tensor/registered.h"

namespace opbench::check {

/// Object files that a program is linked from, as cmake/digest_code.sh writes them between
/// compiling and linking.
struct ProgramCode {
  std::string_view program;
  /// A line for each object: its source, a digest of its code, constants and relocations, and the
  /// sources of the objects that it refers to.
  std::string_view objects;
  std::string_view unknown = {};  ///< why they are unknown; empty: they are known

  std::string key() const { return std::string(program); }
};

using RegisteredCode = Registered<ProgramCode>;

/// Digest of the objects of these sources and of all objects that they refer to, transitively. It
/// does not depend on the order of linking or on other objects.
/// Errors: throws Error for a source without an object, or if the objects are unknown.
std::string digest_of_objects(const ProgramCode& code, std::vector<std::string_view> sources);

/// Fingerprint of all code that calls of these kernels run in this process: the objects of the
/// kernels and of the measuring code, the instruction set, the compiler, and the loaded libraries.
/// Errors: throws Error with the reason if it is unknown.
std::string own_code(std::span<const Kernel* const> kernels);

}  // namespace opbench::check
