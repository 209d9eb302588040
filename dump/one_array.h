#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dump/arrays/numpy_writer.h"
#include "dump/dump_types.h"
#include "tensor/elements.h"
#include "text/temporary_file.h"

namespace opbench {

/// How a file of numbers holds a type that NumPy has not: bf16 as f32.
StoredType written_type(StoredType type);

/// Gives elements of a tensor, in order; `to` has room for them as they are stored.
using ReadElements = std::function<void(ElementRange range, void* to)>;

/// Writes a tensor piece by piece as a .npy file, or its elements alone as a .bin file. The file
/// appears when it is complete. Memory: 2 MiB. Errors: as `read`, and RunError if it cannot be
/// written.
void write_npy(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read);
void write_bin(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read);

/// Calls `use(elements, bytes)` with all elements of the tensor, as `written_type` has them.
void for_each_piece(StoredType type, std::int64_t elements, const ReadElements& read,
                    const std::function<void(const void* elements, std::size_t bytes)>& use);

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
