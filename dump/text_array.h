#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "dump/element_output.h"

namespace opbench {

/// Writes an array as text that numpy.loadtxt reads: a comment "# float32 2x3", then a line for
/// each row of the last axis, numbers with blanks between them, as many digits as tell them apart.
/// The file appears when it is complete. Errors: as write_npy; Error for complex numbers.
void write_txt(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read);

/// An array in memory.
struct TextArray {
  StoredType type = StoredType::f64;
  Dims shape;
  std::vector<std::byte> elements;
};

/// Reads what `write_txt` writes; without its comment, numbers as float64 in the rows and columns
/// that they stand in, as numpy.loadtxt does. At most 1 GiB.
/// Errors: throws Error "{path}:{line}: ...".
TextArray read_txt(const std::filesystem::path& file);

/// The type that NumPy calls so, and "bfloat16"; `none` if there is none.
StoredType parse_numpy_name(std::string_view name);

}  // namespace opbench
