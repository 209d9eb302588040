#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

#include "dump/array_convert.h"
#include "dump/arrays/numpy_writer.h"
#include "dump/dump_meaning.h"
#include "dump/dump_types.h"
#include "dump/dump_writer.h"
#include "dump/one_array.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// Names come from untrusted files, so a path must not leave the directory.
fs::path place_below(const fs::path& directory, const std::string& name) {
  constexpr std::size_t kLongest =
      255 - 64;  // 255: NAME_MAX of Linux; 64 for shape, type and extension
  for (const std::string& component : split_components(name)) {
    const bool is_bad = component.empty() || component == "." || component == ".." ||
                        component.find('\0') != component.npos || component.size() > kLongest;
    if (is_bad) {
      throw Error(
          fmt::format("its name is not a valid file name: '{}' in it is empty, '.', '..' or "
                      "longer than {} bytes",
                      printable(component), kLongest));
    }
  }
  return directory / name;
}

// Path components of a dumped tensor.
struct DumpPlace {
  std::string op;
  int seq = 0;
  bool is_input = false;
  std::string name;
};

std::optional<DumpPlace> dump_place(const std::string& path) {
  const std::vector<std::string> parts = split_components(path);
  if (parts.size() < 4 || parts.size() > 5) return std::nullopt;
  DumpPlace place{parts[0], 0, parts[2] == "input", parts[3]};
  const char* const end = parts[1].data() + parts[1].size();
  const auto [rest, error] = std::from_chars(parts[1].data(), end, place.seq);
  if (error != std::errc() || rest != end || place.seq < 1) return std::nullopt;
  if (!place.is_input && parts[2] != "output") return std::nullopt;
  if (parts.size() == 5) place.name += "/" + parts[4];
  return place;
}

// The dumper's layout has no uint16 and uint32. Wider integers hold their values.
template <class From, class To>
void widen_integers(std::vector<std::byte>& elements) {
  const std::size_t count = elements.size() / sizeof(From);
  std::vector<std::byte> wide(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, elements.data() + i * sizeof value, sizeof value);
    const auto widened = static_cast<To>(value);
    std::memcpy(wide.data() + i * sizeof widened, &widened, sizeof widened);
  }
  elements = std::move(wide);
}

class DumpSink {
 public:
  DumpSink(const fs::path& file, DeviceType device) : writer_(file), device_(device) {}

  void write(const SourceArray& array) {
    const bool is_refused = array.type == StoredType::u64 || array.type == StoredType::c64 ||
                            array.type == StoredType::c128;
    if (is_refused) {
      throw Error(fmt::format("a dump has no {}; --to npz has", numpy_name(array.type)));
    }
    const std::int64_t count = element_count(array.shape);
    std::vector<std::byte> elements(static_cast<std::size_t>(count) * size_of(array.type));
    if (count > 0) array.read({0, count}, elements.data());
    if (array.type == StoredType::u16) widen_integers<std::uint16_t, std::int32_t>(elements);
    if (array.type == StoredType::u32) widen_integers<std::uint32_t, std::int64_t>(elements);
    const DType dtype = dtype_of(array.type);
    const std::optional<DumpPlace> place = dump_place(array.name);
    begin(array, place);
    const std::string name = place ? place->name : "result";
    if (place && place->is_input) {
      if (array.shape.empty() && write_scalar(name, dtype, elements.data())) return;
      return writer_.write_input(name, opbench::describe(dtype, array.shape), elements.data());
    }
    writer_.write_output(name, opbench::describe(dtype, array.shape), elements.data());
  }

  void finish() { writer_.finish(); }

 private:
  void begin(const SourceArray& array, const std::optional<DumpPlace>& place) {
    const DeviceType device = array.has_device ? array.device : device_;
    if (!place) {
      std::string op = array.name;
      std::replace(op.begin(), op.end(), '/', '.');
      last_.clear();
      writer_.begin_record(op, device);
      return;
    }
    const std::string record = fmt::format("{}/{}", place->op, place->seq);
    if (record == last_) return;
    writer_.begin_record(place->op, device, {}, place->seq);
    last_ = record;
  }

  bool write_scalar(const std::string& name, DType dtype, const std::byte* value) {
    double real = 0;
    std::int64_t integer = 0;
    switch (dtype) {
      case DType::fp64:
        std::memcpy(&real, value, sizeof real);
        writer_.write_input_scalar(name, real);
        return true;
      case DType::int64:
        std::memcpy(&integer, value, sizeof integer);
        writer_.write_input_scalar(name, integer);
        return true;
      case DType::boolean:
        writer_.write_input_scalar(name, *value != std::byte{0});
        return true;
      default:
        return false;
    }
  }

  DumpWriter writer_;
  DeviceType device_;
  std::string last_;  // the last record
};

}  // namespace

struct ArraySink::Impl {
  explicit Impl(const ArrayConversion& wanted) : conversion(wanted) {
    for (const std::string& source : conversion.sources) {
      std::error_code ignored;
      if (!fs::equivalent(source, conversion.out, ignored)) continue;
      if (fs::is_directory(source, ignored)) continue;
      throw Error(fmt::format("{} is a source and cannot be replaced", source));
    }
    if (conversion.to == ArrayOutput::npz) {
      npz.emplace(conversion.out);
    } else if (conversion.to == ArrayOutput::h5) {
      h5.emplace(conversion.out, conversion.device);
    } else if (!conversion.is_one_file()) {
      make_directory(conversion.out);
    }
  }

  fs::path name_of(const SourceArray& array) const {
    if (conversion.is_one_file()) return conversion.out;
    std::string name = array.name;
    if (conversion.to == ArrayOutput::npy) name += ".npy";
    if (conversion.to == ArrayOutput::txt) name += ".txt";
    if (conversion.to == ArrayOutput::bin) {
      name +=
          fmt::format(".{}.{}.bin", to_string(array.shape), numpy_name(written_type(array.type)));
    }
    return place_below(conversion.out, name);
  }

  // A separate file. Two arrays of one name would overwrite each other.
  fs::path place(const SourceArray& array) {
    fs::path file = name_of(array);
    std::error_code ignored;
    if (fs::equivalent(file, array.file, ignored)) throw Error("it would replace its own source");
    const std::lock_guard lock(mutex);
    if (!written.insert(file).second) {
      throw Error(fmt::format("{} is written already", file.string()));
    }
    if (!conversion.overwrite && fs::exists(file, ignored)) {
      throw Error(
          fmt::format("{} exists; choose another folder, or pass --overwrite", file.string()));
    }
    if (file.has_parent_path()) make_directory(file.parent_path());
    return file;
  }

  void write_file(const SourceArray& array) {
    const fs::path file = place(array);
    const auto write = conversion.to == ArrayOutput::npy   ? write_npy
                       : conversion.to == ArrayOutput::txt ? write_txt
                                                           : write_bin;
    try {
      write(file, array.type, array.shape, array.read);
    } catch (...) {
      const std::lock_guard lock(mutex);
      written.erase(file);
      throw;
    }
  }

  // Reads the whole array before writing, because a partial archive member cannot be removed.
  void write_npz(const SourceArray& array) {
    std::vector<std::byte> elements;
    for_each_piece(array.type, element_count(array.shape), array.read,
                   [&](const void* piece, std::size_t bytes) {
                     const auto* from = static_cast<const std::byte*>(piece);
                     elements.insert(elements.end(), from, from + bytes);
                   });
    npz->begin(array.name, written_type(array.type), array.shape);
    npz->write(elements.data(), elements.size());
  }

  const ArrayConversion& conversion;
  std::mutex mutex;
  std::set<fs::path> written;
  std::optional<NpzWriter> npz;
  std::optional<DumpSink> h5;
};

ArraySink::ArraySink(const ArrayConversion& conversion)
    : impl_(std::make_unique<Impl>(conversion)) {}
ArraySink::~ArraySink() = default;

bool ArraySink::takes_several() const { return !impl_->npz && !impl_->h5; }

void ArraySink::write(const SourceArray& array) {
  if (impl_->npz) return impl_->write_npz(array);
  if (impl_->h5) return impl_->h5->write(array);
  impl_->write_file(array);
}

void ArraySink::finish() {
  if (impl_->npz) impl_->npz->finish();
  if (impl_->h5) impl_->h5->finish();
}

}  // namespace opbench
