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

/// Is this the name of a dump that says where an operator overflowed: Opdebug.Node_OpDebug.*?
bool is_overflow_record_name(std::string_view name);

/// What such a dump's output says, as the JSON text that msaccucmp makes of it. Two layouts: with
/// the magic number 0x5A5A5A5A one accelerator (AIC, AIV, AICPU, SDMA); else exactly 2048 bytes
/// for DHA, L2 and AI Core. Errors: throws Error that names the field.
std::string overflow_record_json(std::span<const std::byte> bytes);

/// How a device dump file is laid out.
enum class DeviceDumpVersion {
  inline_data = 1,  ///< the whole file is one protobuf message
  binary = 2,       ///< length of the header (8 bytes), header, data one after the other
};

/// Bytes of a device dump: from `offset` of the file, or of message data number `message`.
struct DevicePlace {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  int message = -1;
};

/// A tensor of a device dump, as its header describes it; numbers are CANN's.
struct DeviceTensor {
  Side side = Side::output;
  int index = 0;
  std::int64_t data_type = 0;
  std::int64_t format = 0;
  std::optional<Dims> shape;  ///< as stored; none: not told
  Dims original_shape;        ///< empty: not told
  int groups = 1;
  DevicePlace place;
};

/// Memory of the device that was dumped beside the tensors: "l1buffer" or "space".
struct DeviceBlock {
  std::string kind;
  int index = 0;
  DevicePlace place;
};

/// A dump file as the device writes it, {op_type}.{op_name}.{task}.{stream}.{timestamp}; nothing in
/// it is trusted.
class DeviceDump {
 public:
  /// Errors: throws Error "{path}: {field}: ...": no such file, a header that is longer than the
  /// file or no message, extents beyond 63 bits, sizes that do not add up to the file's.
  DeviceDump(const std::filesystem::path& path, DeviceDumpVersion version);
  DeviceDump(DeviceDump&&) noexcept;
  ~DeviceDump();

  const std::string& name() const;                   ///< the file's
  const std::string& op_name() const;                ///< "scope/op"; empty if not told
  const std::vector<DeviceTensor>& tensors() const;  ///< inputs, then outputs
  const std::vector<DeviceBlock>& blocks() const;

  /// Bytes [from, from + count) of a place. Thread-safe. Errors: throws Error if they leave it.
  void read(const DevicePlace& place, std::int64_t from, std::size_t count, void* to) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "input[0]".
std::string to_string(const DeviceTensor& tensor);

/// What a device dump says of itself, beside its data.
struct DeviceDumpHead {
  std::string op_name;     ///< "scope/op"
  std::uint64_t time = 0;  ///< microseconds since 1970, UTC
  std::vector<TensorDesc> inputs, outputs;
};

/// A dump file as a device writes it, version 2 (see DeviceDumpVersion): tensors as they are
/// stored, padding included, with their shapes as stored and without padding. It has its real name
/// once it is finished. Errors: throws RunError if it cannot be written, Error for shapes that do
/// not fit their format.
class DeviceDumpWriter {
 public:
  DeviceDumpWriter(const std::filesystem::path& path, const DeviceDumpHead& head);

  /// The elements of a tensor, all of its storage. Each tensor is written once, in any order.
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
