#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "dump/dump_types.h"
#include "tensor/shape.h"

namespace opbench {

/// What stands before the elements of a .npy file (numpy.lib.format, versions 1.0 to 3.0).
struct NpyHeader {
  StoredType type = StoredType::none;
  std::string type_name;    ///< as the file spells it: "<f4"
  bool is_swapped = false;  ///< the other byte order than this machine's
  bool is_fortran = false;  ///< the first axis varies fastest
  Dims shape;
  std::size_t bytes = 0;  ///< of the header: where the elements begin
};

/// The next bytes of a file, `count` at most; fewer only where it ends.
using ReadNext = std::function<std::size_t(void* to, std::size_t count)>;

/// Errors: throws Error that names the field, what was found and what is allowed: no .npy file, a
/// header that is cut or longer than 1 MiB, an unknown element type, negative or too large extents.
/// An element type that is no number gives `none`.
NpyHeader read_npy_header(const ReadNext& read);

/// The header of version 1.0, padded to a multiple of 64 bytes, of elements in C order.
/// Errors: throws Error if NumPy has no such type.
std::string npy_header(StoredType type, const Dims& shape);

}  // namespace opbench
