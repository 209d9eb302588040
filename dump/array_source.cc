#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>

#include "dump/array_convert.h"
#include "dump/arrays/array_file.h"
#include "dump/dump_file.h"
#include "dump/one_array.h"
#include "dump/regular_file.h"
#include "tensor/error.h"
#include "tensor/half.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

bool is_hdf5(const fs::path& file) {
  return file.extension() == ".h5" || file.extension() == ".hdf5";
}

// The dumper widens fp16 and bf16 to float32, and stores uint8 and bool as int8.
StoredType dumped_type(const DumpEntry& entry) {
  const bool is_wide = entry.stored == StoredType::f32;
  if (is_wide && entry.desc.dtype == DType::fp16) return StoredType::f16;
  if (is_wide && entry.desc.dtype == DType::bf16) return StoredType::bf16;
  const bool is_byte = entry.stored == StoredType::i8 || entry.stored == StoredType::u8;
  if (is_byte && entry.desc.dtype == DType::uint8) return StoredType::u8;
  if (is_byte && entry.desc.dtype == DType::boolean) return StoredType::boolean;
  return entry.stored;
}

template <class T>
void narrow_exactly(const std::vector<float>& wide, void* to, const std::string& path) {
  auto* narrowed = static_cast<T*>(to);
  narrow(wide.data(), narrowed, wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const auto back = static_cast<float>(narrowed[i]);
    if (back == wide[i] || (std::isnan(back) && std::isnan(wide[i]))) continue;
    throw NotExact(fmt::format("{}: its values are not those of its DataType: {}", path, wide[i]));
  }
}

void read_dumped(DumpFile& file, const DumpEntry& entry, StoredType type, ElementRange range,
                 void* to) {
  if (type != StoredType::f16 && type != StoredType::bf16) {
    file.read(entry, range, to);
    if (type != StoredType::boolean) return;
    auto* bytes = static_cast<std::uint8_t*>(to);
    std::transform(bytes, bytes + range.count, bytes,
                   [](std::uint8_t byte) -> std::uint8_t { return byte != 0; });
    return;
  }
  if (entry.stored != StoredType::f32) return file.read(entry, range, to);
  std::vector<float> wide(static_cast<std::size_t>(range.count));
  file.read(entry, range, wide.data());
  type == StoredType::f16 ? narrow_exactly<half>(wide, to, entry.path)
                          : narrow_exactly<bfloat16>(wide, to, entry.path);
}

void describe(SourceArray& array, const DumpEntry& entry, const std::string& file) {
  array.shape = entry.desc.shape;
  array.is_scalar = entry.kind == EntryKind::scalar;
  if (!entry.problem.empty()) {
    array.problem = fmt::format("{}: {}: {}", file, printable(entry.path), entry.problem);
  }
  if (!entry.warning.empty()) {
    array.warning = fmt::format("{}: {}: {}", file, printable(entry.path), entry.warning);
  }
}

void add_dumped(std::vector<SourceArray>& arrays, const std::shared_ptr<DumpFile>& file,
                const DumpEntry& entry, bool as_stored) {
  // Names of memory formats, options and similar attributes hold no numbers.
  if (entry.stored == StoredType::none && entry.problem.empty()) return;
  SourceArray array;
  describe(array, entry, file->name());
  array.name = entry.path.substr(entry.path.starts_with('/') ? 1 : 0);
  array.type = as_stored ? entry.stored : dumped_type(entry);
  array.device = entry.device;
  array.has_device = true;
  array.read = [file, &entry, type = array.type](ElementRange range, void* to) {
    read_dumped(*file, entry, type, range, to);
  };
  arrays.push_back(std::move(array));
}

std::vector<SourceArray> open_hdf5(const fs::path& path, bool as_stored,
                                   std::vector<std::string>& remarks) {
  const auto file = std::make_shared<DumpFile>(path);
  std::vector<SourceArray> arrays;
  for (const DumpRecord& record : file->records()) {
    for (const DumpEntry& entry : record.entries) add_dumped(arrays, file, entry, as_stored);
  }
  for (const DumpEntry& entry : file->strays()) add_dumped(arrays, file, entry, as_stored);
  for (const std::string& problem : file->problems()) {
    remarks.push_back(fmt::format("{}: {}", path.string(), problem));
  }
  return arrays;
}

std::vector<SourceArray> open_array_file(const fs::path& path, const std::string& name,
                                         std::vector<std::string>& remarks) {
  const auto file = std::make_shared<ArrayFile>(path);
  std::vector<SourceArray> arrays;
  for (const DumpEntry& entry : file->entries()) {
    SourceArray array;
    describe(array, entry, path.string());
    array.name = holds_one_array(path) ? name : entry.name;
    array.type = entry.stored;
    array.read = [file, &entry](ElementRange range, void* to) { file->read(entry, range, to); };
    arrays.push_back(std::move(array));
  }
  for (const std::string& problem : file->problems()) {
    remarks.push_back(fmt::format("{}: {}", path.string(), problem));
  }
  return arrays;
}

std::vector<SourceArray> open_text(const fs::path& path, const std::string& name) {
  const auto text = std::make_shared<TextArray>(read_txt(path));
  SourceArray array;
  array.name = name;
  array.type = text->type;
  array.shape = text->shape;
  array.read = [text](ElementRange range, void* to) {
    const std::size_t bytes = size_of(text->type);
    std::memcpy(to, text->elements.data() + static_cast<std::size_t>(range.first) * bytes,
                static_cast<std::size_t>(range.count) * bytes);
  };
  return {std::move(array)};
}

// Reads "a/self.2x3.float32.bin" and msaccucmp's "x.output.0.2_3.float16.NCHW.bin".
std::vector<SourceArray> open_bin(const fs::path& path, const std::string& name) {
  const auto fail = [&](const std::string& reason) {
    throw Error(fmt::format("{}: {}", path.string(), reason));
  };
  std::vector<std::string> parts = {""};
  for (const char letter : path.stem().string()) {
    if (letter == '.') parts.emplace_back();
    if (letter != '.') parts.back() += letter;
  }
  std::string ending;
  for (int tries = 0; tries < 2 && parts.size() >= 3; ++tries) {
    SourceArray array;
    array.type = parse_numpy_name(parts.back());
    if (array.type == StoredType::none) {
      ending = "." + parts.back() + ending;  // format
      parts.pop_back();
      continue;
    }
    std::string shape = parts[parts.size() - 2];
    ending = "." + shape + "." + parts.back() + ending;
    std::replace(shape.begin(), shape.end(), '_', 'x');
    array.shape = parse_dims(shape);
    array.name = name.substr(0, name.size() - std::min(name.size(), ending.size()));
    const auto file = std::make_shared<RegularFile>(path);
    const auto bytes = static_cast<std::int64_t>(size_of(array.type));
    if (file->bytes() / bytes != element_count(array.shape) || file->bytes() % bytes != 0) {
      fail(fmt::format("size: found {}, but shape {} of {} needs {} elements", file->bytes(),
                       to_string(array.shape), numpy_name(array.type), element_count(array.shape)));
    }
    array.read = [file, bytes](ElementRange range, void* to) {
      file->read(range.first * bytes, static_cast<std::size_t>(range.count * bytes), to);
    };
    return {std::move(array)};
  }
  fail(
      "its name states no shape and type; expected NAME.SHAPE.TYPE.bin as in self.2x3.float32.bin");
  return {};
}

}  // namespace

bool has_known_suffix(const fs::path& file) {
  return has_array_suffix(file) || is_hdf5(file) || holds_one_array(file);
}

bool holds_one_array(const fs::path& file) {
  const std::string suffix = file.extension().string();
  return suffix == ".npy" || suffix == ".txt" || suffix == ".bin";
}

std::vector<SourceArray> open_arrays(const fs::path& file, const std::string& name, bool as_stored,
                                     std::vector<std::string>& remarks) {
  std::vector<SourceArray> arrays = is_hdf5(file) ? open_hdf5(file, as_stored, remarks)
                                    : file.extension() == ".txt" ? open_text(file, name)
                                    : file.extension() == ".bin"
                                        ? open_bin(file, name)
                                        : open_array_file(file, name, remarks);
  for (SourceArray& array : arrays) array.file = file.string();
  return arrays;
}

}  // namespace opbench
