#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "dump/dump_types.h"
#include "tensor/shape.h"

namespace opbench {

/// Header of a .npy file (numpy.lib.format, versions 1.0 to 3.0).
struct NpyHeader {
  StoredType type = StoredType::none;
  std::string type_name;    ///< spelling in the file: "<f4"
  bool is_swapped = false;  ///< byte order opposite to this machine's
  bool is_fortran = false;  ///< the first axis varies fastest
  Dims shape;
  std::size_t bytes = 0;  ///< size of the header; the elements follow it
};

/// Reads the next `count` bytes of a file; fewer only at its end.
using ReadNext = std::function<std::size_t(void* to, std::size_t count)>;

/// Errors: throws Error with the field, the value found and the allowed values: not a .npy file, a
/// header that is cut or longer than 1 MiB, an unknown element type, negative or too large extents.
/// An element type that is not numeric gives `none`.
NpyHeader read_npy_header(const ReadNext& read);

/// Returns a header of version 1.0 for elements in C order, padded to a multiple of 64 bytes.
/// Errors: throws Error if NumPy has no such type.
std::string npy_header(StoredType type, const Dims& shape);

}  // namespace opbench
