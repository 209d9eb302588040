#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <ostream>
#include <vector>

#include "dump/device/device_dump.h"
#include "dump/device/device_names.h"
#include "dump/device/format_conversion.h"
#include "dump/device_convert.h"
#include "dump/one_array.h"
#include "tensor/error.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// Without a stated shape, the tensor has one axis. A scalar has shape [1], like in msaccucmp.
Dims stored_shape(const DeviceTensor& tensor, StoredType type) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  Dims shape = tensor.shape.value_or(Dims{tensor.place.bytes / bytes});
  if (shape.empty()) shape = {1};
  const std::int64_t elements = element_count(shape);
  if (elements <= tensor.place.bytes / bytes) return shape;
  throw Error(fmt::format("size: found {}, but shape {} of {} needs {} elements",
                          tensor.place.bytes, to_string(shape), numpy_name(type), elements));
}

Format known_format(std::int64_t format) {
  if (const auto known = device_format(format)) return *known;
  throw Error(fmt::format("format: no conversion of {}", device_format_name(format)));
}

bool is_file_of_another_kind(const fs::path& file) {
  const std::string suffix = file.extension().string();
  return suffix == ".npy" || suffix == ".bin" || suffix == ".csv";
}

}  // namespace

DeviceTensors::DeviceTensors(const DeviceConversion& conversion, std::optional<std::int64_t> format,
                             const fs::path& out, const std::string& dump_name,
                             MemoryBudget& budget, NameMapping& mapping)
    : conversion_(conversion),
      format_(format),
      out_(out),
      dump_name_(dump_name),
      budget_(budget),
      mapping_(mapping) {}

void DeviceTensors::convert(const fs::path& file, ConvertOutcome& outcome) {
  const std::string name = file.string();
  ++outcome.sources;
  outcome.attempt(name, [&] {
    if (is_file_of_another_kind(file))
      throw Error(name + ": its name is not that of a device dump");
    std::optional<MemoryBudget::Share> share;
    std::error_code unknown;
    const std::uintmax_t size = fs::file_size(file, unknown);
    if (conversion_.version == DeviceDumpVersion::inline_data && !unknown) {
      share.emplace(budget_, 2 * static_cast<std::int64_t>(size));
    }
    const DeviceDump dump(file, conversion_.version);
    bool has_found = false;
    for (const DeviceTensor& tensor : dump.tensors()) {
      const auto& only = conversion_.only;
      if (only && (only->side != tensor.side || only->index != tensor.index)) continue;
      has_found = true;
      outcome.attempt(name, [&] {
        try {
          const bool is_record = tensor.side == Side::output && is_overflow_record_name(dump_name_);
          is_record ? convert_record(dump, tensor) : convert_tensor(dump, tensor);
        } catch (const RunError&) {
          throw;
        } catch (const Error& error) {
          throw Error(fmt::format("{}: {}.{}", name, to_string(tensor), error.what()));
        }
        ++outcome.written;
      });
    }
    if (conversion_.only && !has_found) {
      throw Error(fmt::format("{}: it has no {}", name, to_string(*conversion_.only)));
    }
    if (format_) return;
    for (const DeviceBlock& block : dump.blocks()) {
      outcome.attempt(name, [&] {
        convert_block(dump, block);
        ++outcome.written;
      });
    }
  });
}

void DeviceTensors::convert_record(const DeviceDump& dump, const DeviceTensor& tensor) {
  constexpr std::int64_t kLargest = 1 << 20;  // bytes
  if (tensor.place.bytes > kLargest) {
    throw Error(
        fmt::format("size: found {}, at most {} are allowed", tensor.place.bytes, kLargest));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.place.bytes));
  dump.read(tensor.place, 0, bytes.size(), bytes.data());
  const std::string text = overflow_record_json(bytes);
  OutputFile(place(fmt::format("{}.output.{}.json", dump_name_, tensor.index)).string())
      .write([&](std::ostream& out) { out << text; });
}

void DeviceTensors::convert_tensor(const DeviceDump& dump, const DeviceTensor& tensor) {
  const StoredType type = device_stored_type(tensor.data_type);
  const Dims stored = stored_shape(tensor, type);
  const bool is_bin = conversion_.output == DeviceOutput::bin;
  const auto write = is_bin ? write_bin : write_npy;
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  if (!format_) {
    const std::string name = tensor_name(dump, tensor, type, tensor.format, stored);
    return write(place(name), type, stored, [&](ElementRange range, void* to) {
      dump.read(tensor.place, range.first * bytes, static_cast<std::size_t>(range.count * bytes),
                to);
    });
  }
  const std::int64_t elements = element_count(stored);
  const MemoryBudget::Share share(budget_, 3 * elements * bytes);
  std::vector<std::byte> data(static_cast<std::size_t>(elements * bytes));
  dump.read(tensor.place, 0, data.size(), data.data());
  const Dims& shape = conversion_.shape.empty() ? tensor.original_shape : conversion_.shape;
  ConvertedTensor converted;
  if (tensor.format == *format_ && !device_format(tensor.format)) {
    converted = {Format::ND, stored, std::move(data)};
  } else {
    converted = convert_format({type, known_format(tensor.format), stored, shape, tensor.groups},
                               data.data(), known_format(*format_));
  }
  const std::string name = tensor_name(dump, tensor, type, *format_, converted.shape);
  write(place(name), type, converted.shape, [&](ElementRange range, void* to) {
    std::memcpy(to, converted.elements.data() + range.first * bytes,
                static_cast<std::size_t>(range.count * bytes));
  });
}

void DeviceTensors::convert_block(const DeviceDump& dump, const DeviceBlock& block) {
  const std::string name = fmt::format("{}.{}.{}.bin", dump_name_, block.kind, block.index);
  write_bin(place(name), StoredType::u8, {block.place.bytes}, [&](ElementRange range, void* to) {
    dump.read(block.place, range.first, static_cast<std::size_t>(range.count), to);
  });
}

fs::path DeviceTensors::place(const std::string& name) {
  const std::string fitting = fitting_file_name(name);
  if (fitting != name) mapping_.emplace(fitting, name);
  return out_ / fitting;
}

// Returns a name like msaccucmp.
std::string DeviceTensors::tensor_name(const DeviceDump& dump, const DeviceTensor& tensor,
                                       StoredType type, std::int64_t format,
                                       const Dims& shape) const {
  const std::string which = fmt::format("{}.{}", name(tensor.side), tensor.index);
  const std::int64_t elements = element_count(shape);
  if (conversion_.output == DeviceOutput::bin) {
    const bool has_extents = format_.has_value() || elements == 0;
    return fmt::format(
        "{}.{}.{}.{}.{}.bin", dump_name_, which,
        has_extents ? fmt::format("{}", fmt::join(shape, "_")) : std::to_string(elements),
        numpy_name(written_type(type)), device_format_name(format));
  }
  if (conversion_.output == DeviceOutput::msnpy) {
    return fmt::format("{}.{}.{}.npy", short_dump_name(dump_name_, dump.op_name()), which,
                       device_format_name(format));
  }
  if (!format_) return fmt::format("{}.{}.npy", dump_name_, which);
  return fmt::format("{}.{}.{}.npy", dump_name_, which, fmt::join(shape, "x"));
}

}  // namespace opbench
