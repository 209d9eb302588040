#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/tensor.h"
#include "text/temporary_file.h"

namespace opbench {

/// True for the name of a dump that reports an operator's overflow: Opdebug.Node_OpDebug.*.
bool is_overflow_record_name(std::string_view name);

/// Converts the output of such a dump to the JSON text that msaccucmp makes of it. Two layouts:
/// with the magic number 0x5A5A5A5A one accelerator (AIC, AIV, AICPU, SDMA); else exactly 2048
/// bytes for DHA, L2 and AI Core. Errors: throws Error with the field.
std::string overflow_record_json(std::span<const std::byte> bytes);

/// Layout of a device dump file.
enum class DeviceDumpVersion {
  inline_data = 1,  ///< one protobuf message with the data
  binary = 2,       ///< length of the header (8 bytes), header, then the data of all tensors
};

/// Place of bytes of a device dump: `offset` in the file, or the data of message number `message`.
struct DevicePlace {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  int message = -1;
};

/// A tensor of a device dump, as in its header. Numbers of types and formats are CANN's.
struct DeviceTensor {
  Side side = Side::output;
  int index = 0;
  std::int64_t data_type = 0;
  std::int64_t format = 0;
  std::optional<Dims> shape;  ///< as stored; empty: not stated
  Dims original_shape;        ///< empty: not stated
  int groups = 1;
  DevicePlace place;
};

/// Device memory that was dumped in addition to the tensors: "l1buffer" or "space".
struct DeviceBlock {
  std::string kind;
  int index = 0;
  DevicePlace place;
};

/// A dump file written by the device, {op_type}.{op_name}.{task}.{stream}.{timestamp}. No content
/// is trusted.
class DeviceDump {
 public:
  /// Errors: throws Error "{path}: {field}: ..." if the file does not exist, the header exceeds the
  /// file or is not a message, extents exceed 63 bits, or the sizes do not sum to the file's size.
  DeviceDump(const std::filesystem::path& path, DeviceDumpVersion version);
  DeviceDump(DeviceDump&&) noexcept;
  ~DeviceDump();

  const std::string& name() const;                   ///< the file's name
  const std::string& op_name() const;                ///< "scope/op"; empty if not stated
  const std::vector<DeviceTensor>& tensors() const;  ///< inputs, then outputs
  const std::vector<DeviceBlock>& blocks() const;

  /// Reads bytes [from, from + count) of a place. Thread-safe. Errors: throws Error if the range
  /// exceeds the place.
  void read(const DevicePlace& place, std::int64_t from, std::size_t count, void* to) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the side and index: "input[0]".
std::string to_string(const DeviceTensor& tensor);

/// Header of a device dump, without its tensors.
struct DeviceDumpHead {
  std::string op_name;     ///< "scope/op"
  std::uint64_t time = 0;  ///< microseconds since 1970, UTC
  std::vector<TensorDesc> inputs, outputs;
};

/// Writes a dump file like a device, version 2 (see DeviceDumpVersion). Tensors are written as
/// stored, padding included; the header has their shapes with and without padding. The file gets
/// its final name once it is finished. Errors: throws RunError if it cannot be written, Error for
/// shapes that do not fit their format.
class DeviceDumpWriter {
 public:
  DeviceDumpWriter(const std::filesystem::path& path, const DeviceDumpHead& head);

  /// Writes the whole storage of a tensor. Each tensor is written once, in any order.
  void write(Side side, std::size_t index, const void* storage);
  void finish();

 private:
  struct Place {
    std::uint64_t offset;
    std::size_t bytes;
  };

  TemporaryFile file_;
  std::vector<Place> inputs_, outputs_;
};

}  // namespace opbench
