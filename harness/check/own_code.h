#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "tensor/registered.h"

namespace opbench::check {

/// The objects that a program is linked from, as cmake/digest_code.sh writes them between compiling
/// and linking.
struct ProgramCode {
  std::string_view program;
  /// A line for each object: the source that it was compiled from, a digest of its code, constants
  /// and relocations, and the sources of the objects that it refers to.
  std::string_view objects;
  std::string_view unknown = {};  ///< why there are none; empty: there are

  std::string key() const { return std::string(program); }
};

using RegisteredCode = Registered<ProgramCode>;

/// Digest of the objects of these sources and of all objects that these refer to, and so on: it
/// does not depend on the order of linking or on other objects.
/// Errors: throws Error for a source that has no object, or if the objects are unknown.
std::string digest_of_objects(const ProgramCode& code, std::vector<std::string_view> sources);

/// Fingerprint of all that calls of these kernels run in this process: the objects of the kernels
/// and of what measures them, the instruction set in use, the compiler, and the libraries that are
/// loaded.
/// Errors: throws Error that says why it is not known.
std::string own_code(std::span<const Kernel* const> kernels);

}  // namespace opbench::check
