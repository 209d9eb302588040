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

/// Stored type of numbers in a file: f32 for bf16, which NumPy does not have.
StoredType written_type(StoredType type);

/// Reads elements of a tensor in order. `to` has room for them as stored.
using ReadElements = std::function<void(ElementRange range, void* to)>;

/// Writes a tensor piece by piece as a .npy file, or its elements alone as a .bin file. The file
/// appears when it is complete. Memory: 2 MiB. Errors: those of `read`, and RunError if the file
/// cannot be written.
void write_npy(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read);
void write_bin(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read);

/// Calls `use(elements, bytes)` for all elements of the tensor, converted to `written_type`.
void for_each_piece(StoredType type, std::int64_t elements, const ReadElements& read,
                    const std::function<void(const void* elements, std::size_t bytes)>& use);

/// Writes an array as numpy.savetxt(file, array.flatten(), header="float32 2x3") does: a comment,
/// then one number a line with the same digits. Integers are written whole, with all their digits.
/// The file appears when it is complete. Errors: as for write_npy; Error for complex numbers.
void write_txt(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read);

/// An array in memory.
struct TextArray {
  StoredType type = StoredType::f64;
  Dims shape;
  std::vector<std::byte> elements;
};

/// Reads a file of `write_txt`. A file without its comment is read as float64 with the rows and
/// columns of the text, like numpy.loadtxt. At most 1 GiB.
/// Errors: throws Error "{path}:{line}: ...".
TextArray read_txt(const std::filesystem::path& file);

/// Returns the type with this NumPy name, or "bfloat16"; `none` for other names.
StoredType parse_numpy_name(std::string_view name);

}  // namespace opbench
