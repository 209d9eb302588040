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
  msnpy,  ///< {type}.{last part of the operator}...{format}.npy, as MindSpore names it
};

/// What is asked of `msaccucmp.py convert`.
struct DeviceConversion {
  std::vector<std::string> sources;  ///< dump files, or one directory with all below it
  std::filesystem::path out;         ///< directory; files of a directory's folders go to such here
  DeviceDumpVersion version = DeviceDumpVersion::binary;
  DeviceOutput output = DeviceOutput::npy;
  std::optional<std::string> format;  ///< none: tensors as they are stored, buffers and spaces too
  Dims shape;                         ///< in place of original_shape; empty: not given
  std::optional<DeviceTensor> only;   ///< side and index of the one tensor to convert
};

/// Converts device dumps, several at once, each tensor to a file of its own that appears when it is
/// complete. What cannot be converted is told in the outcome and does not stop the others. In a
/// directory, files that are no dumps by their name (or by mapping.csv) are left out.
///
/// Memory: 1 MiB for each thread and, where formats are converted, twice the tensor, all together a
/// quarter of the machine's memory or one tensor. Files of version 1 are held whole.
/// Errors: throws Error if the format is unknown or a directory cannot be read; RunError if the
/// output directory cannot be made.
ConvertOutcome convert_device_dumps(const DeviceConversion& conversion,
                                    const std::function<bool()>& stop);

/// The same by all ranks together, a dump by each at a time, which writes its files itself; the
/// outcome is rank 0's. Errors: those of dispatch, too.
ConvertOutcome convert_device_dumps(Ranks& ranks, const DeviceConversion& conversion,
                                    const std::function<bool()>& stop);

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
