#pragma once

#include <memory>
#include <string>
#include <vector>

#include "opbench/guest/library.h"

namespace opbench::guest {

/// Functions of a library that exports __tvm_ffi_NAME for each. With mappings only those are
/// kernels, of the operators that they name; without, each function computes that of its own name.
struct TvmExports {
  std::string file;
  void* handle = nullptr;  // of dlopen
  std::vector<std::string> functions;
};

/// The names of exported functions, without the prefix. Names that begin with _ are data of
/// TVM-FFI.
std::vector<std::string> tvm_functions(const std::vector<std::string>& symbols);

/// "softplus" for "/a/libsoftplus.so.1": the name of variants.
std::string variant_name(const std::string& file);

/// Errors: throws GuestError if a mapping names a function that is not exported.
std::unique_ptr<Library> read_tvm_library(const TvmExports& exports,
                                          const std::vector<Mapping>& mappings);

}  // namespace opbench::guest
