#include "dump/arrays/npy_writer.h"

#include <string>

#include "dump/arrays/npy_header.h"

namespace opbench {

NpyWriter::NpyWriter(const std::filesystem::path& path, StoredType type, const Dims& shape)
    : file_(path) {
  const std::string text = npy_header(type, shape);
  write(text.data(), text.size());
}

void NpyWriter::write(const void* elements, std::size_t bytes) {
  file_.write(elements, bytes);
  file_.check();
}

void NpyWriter::finish() { file_.commit(); }

}  // namespace opbench
