#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dump/conversion.h"
#include "dump/device/device_dump.h"
#include "dump/device/device_names.h"
#include "workers/ranks.h"

namespace opbench {

enum class DeviceOutput {
  npy,    ///< {dump}.{input|output}.{i}[.{shape}].npy
  bin,    ///< {dump}.{input|output}.{i}.{elements or shape}.{dtype}.{format}.bin
  msnpy,  ///< {type}.{last part of the operator}...{format}.npy, MindSpore's name
};

/// Options of `msaccucmp.py convert`.
struct DeviceConversion {
  std::vector<std::string> sources;  ///< dump files, or a directory with all files below it
  std::filesystem::path
      out;  ///< output directory; folders of a source directory are repeated in it
  DeviceDumpVersion version = DeviceDumpVersion::binary;
  DeviceOutput output = DeviceOutput::npy;
  std::optional<std::string> format;  ///< target format; empty: as stored, with buffers and spaces
  Dims shape;                         ///< replaces original_shape; empty: not given
  std::optional<DeviceTensor> only;   ///< side and index of the only tensor to convert
};

/// Converts device dumps, several at once. Each tensor becomes a file, which appears when it is
/// complete. The outcome lists tensors that cannot be converted. They do not stop the others. In a
/// directory, files without the name of a dump, in the folder or in mapping.csv, are skipped.
///
/// Memory: 1 MiB for each thread; for a conversion of formats also twice the tensor, in total a
/// quarter of the machine's memory or one tensor. Files of version 1 are read whole.
/// Errors: throws Error if the format is unknown or a directory cannot be read; RunError if the
/// output directory cannot be created.
ConvertOutcome convert_device_dumps(const DeviceConversion& conversion,
                                    const std::function<bool()>& stop);

/// Converts device dumps with all ranks. A rank converts one dump at a time and writes its files.
/// Rank 0 returns the outcome. Errors: also those of dispatch.
ConvertOutcome convert_device_dumps(Ranks& ranks, const DeviceConversion& conversion,
                                    const std::function<bool()>& stop);

/// Writes the tensors of one device dump. The arguments must outlive the object.
class DeviceTensors {
 public:
  /// `format`: CANN's number of conversion.format. `mapping` receives names that exceed the limit.
  DeviceTensors(const DeviceConversion& conversion, std::optional<std::int64_t> format,
                const std::filesystem::path& out, const std::string& dump_name,
                MemoryBudget& budget, NameMapping& mapping);

  /// A tensor that cannot be converted becomes a separate failure with its field.
  void convert(const std::filesystem::path& file, ConvertOutcome& outcome);

 private:
  void convert_tensor(const DeviceDump& dump, const DeviceTensor& tensor);
  // Converts the record of an operator's overflow, which is a text instead of a tensor.
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
