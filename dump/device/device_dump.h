#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

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

}  // namespace opbench
