#include "dump/element_output.h"

#include <algorithm>
#include <vector>

#include "tensor/half.h"

namespace opbench {
namespace {

constexpr std::int64_t kPieceBytes = 1 << 20;

}  // namespace

StoredType written_type(StoredType type) {
  return type == StoredType::bf16 ? StoredType::f32 : type;
}

void for_each_piece(StoredType type, std::int64_t elements, const ReadElements& read,
                    const std::function<void(const void* elements, std::size_t bytes)>& use) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const std::int64_t most = kPieceBytes / bytes;
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(elements, most) * bytes));
  std::vector<float> widened;
  for (std::int64_t first = 0; first < elements; first += most) {
    const std::int64_t count = std::min(most, elements - first);
    read({first, count}, piece.data());
    if (type != StoredType::bf16) {
      use(piece.data(), static_cast<std::size_t>(count * bytes));
      continue;
    }
    widened.resize(static_cast<std::size_t>(count));
    widen(reinterpret_cast<const bfloat16*>(piece.data()), widened.data(), widened.size());
    use(widened.data(), widened.size() * sizeof(float));
  }
}

void write_npy(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read) {
  NpyWriter writer(file, written_type(type), shape);
  for_each_piece(type, element_count(shape), read,
                 [&](const void* elements, std::size_t bytes) { writer.write(elements, bytes); });
  writer.finish();
}

void write_bin(const std::filesystem::path& file, StoredType type, const Dims& shape,
               const ReadElements& read) {
  TemporaryFile output(file);
  for_each_piece(type, element_count(shape), read, [&](const void* elements, std::size_t bytes) {
    output.write(elements, bytes);
    output.check();
  });
  output.commit();
}

}  // namespace opbench
