// Device dumps of both versions, and the conversion of their tensors.

#include <cstdint>
#include <vector>

#include "dump/device/device_dump.h"
#include "dump/device/device_names.h"
#include "dump/device/format_conversion.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostBytes = 1 << 14;

std::vector<std::byte> bytes_of(const DeviceDump& dump, const DevicePlace& place) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(place.bytes, kMostBytes)));
  dump.read(place, 0, bytes.size(), bytes.data());
  return bytes;
}

void convert(const DeviceTensor& tensor, std::vector<std::byte> bytes) {
  const StoredType type = device_stored_type(tensor.data_type);
  const auto format = device_format(tensor.format);
  if (!format || !tensor.shape) return;
  const std::int64_t elements = element_count(*tensor.shape);
  if (elements > kMostBytes / static_cast<std::int64_t>(size_of(type))) return;
  if (static_cast<std::size_t>(elements) * size_of(type) > bytes.size()) return;
  // A separate allocation, so that the sanitizer detects a read behind it.
  bytes.resize(static_cast<std::size_t>(elements) * size_of(type));
  bytes.shrink_to_fit();
  for (const Format target : kAllFormats) {
    succeeds([&] {
      const ConvertedTensor converted =
          convert_format({type, *format, *tensor.shape, tensor.original_shape, tensor.groups},
                         bytes.data(), target);
      require(converted.elements.size() ==
                  static_cast<std::size_t>(element_count(converted.shape)) * size_of(type),
              "as many elements as the shape has", to_string(converted.shape));
    });
  }
}

void read_all(const std::string& path, DeviceDumpVersion version) {
  const DeviceDump dump(path, version);
  for (const DeviceTensor& tensor : dump.tensors()) {
    std::vector<std::byte> bytes = bytes_of(dump, tensor.place);
    succeeds([&] { overflow_record_json(bytes); });
    succeeds([&] { convert(tensor, std::move(bytes)); });
  }
  for (const DeviceBlock& block : dump.blocks()) bytes_of(dump, block.place);
}

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench;
  const MemoryFile file(data, size);
  succeeds([&] { read_all(file.path(), DeviceDumpVersion::binary); });
  succeeds([&] { read_all(file.path(), DeviceDumpVersion::inline_data); });
  return 0;
}
