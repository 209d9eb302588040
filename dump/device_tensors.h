#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "dump/conversion.h"
#include "dump/device/device_dump.h"
#include "dump/device/device_names.h"
#include "dump/device_convert.h"

namespace opbench {

/// Writes the tensors of one device dump. All that it is given must outlive it.
class DeviceTensors {
 public:
  /// `format`: CANN's number of conversion.format. `mapping` gets the names that are too long.
  DeviceTensors(const DeviceConversion& conversion, std::optional<std::int64_t> format,
                const std::filesystem::path& out, const std::string& dump_name,
                MemoryBudget& budget, NameMapping& mapping);

  /// A tensor that cannot be converted is a failure of its own, named with its field.
  void convert(const std::filesystem::path& file, ConvertOutcome& outcome);

 private:
  void convert_tensor(const DeviceDump& dump, const DeviceTensor& tensor);
  // Where an operator overflowed: a text and no tensor.
  void convert_record(const DeviceDump& dump, const DeviceTensor& tensor);
  void convert_block(const DeviceDump& dump, const DeviceBlock& block);
  std::filesystem::path place(const std::string& name);
  std::string tensor_name(const DeviceDump& dump, const DeviceTensor& tensor, StoredType type,
                          std::int64_t format, const Dims& shape) const;

  const DeviceConversion& conversion_;
  std::optional<std::int64_t> format_;
  const std::filesystem::path& out_;
  const std::string& dump_name_;
  MemoryBudget& budget_;
  NameMapping& mapping_;
};

}  // namespace opbench
