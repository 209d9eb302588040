#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>

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

}  // namespace opbench
