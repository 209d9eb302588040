#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// Writes records in the HDF5 layout of Ascend's PyTorch dumper: /{op}/{seq}/{input|output}/{name},
/// data logical and dense, attributes DeviceType, DataType, FormatType, Type and Stride. Attributes
/// named opbench_* hold additional data: opbench_dtype "bf16" (stored as fp32) or "fp16" on the CPU
/// (which the original dumper writes wrongly), opbench_format for private storage formats. Notes
/// are attributes of every dataset of their record. msaccucmp treats a group with attributes as a
/// leaf and skips its content.
///
/// Data goes to a temporary file in the folder of `path`. `finish` renames it to `path`. The
/// destructor removes an unfinished file and leaves an existing `path` unchanged.
///
/// Errors: Error for names and tensors that cannot be dumped; the writer stays usable. RunError if
/// the file cannot be written; later writes and `finish` then fail.
class DumpWriter {
 public:
  /// Compressed tensors are stored in chunks. Errors: throws RunError such as "cannot write
  /// out/x.h5: No such file or directory".
  explicit DumpWriter(const std::filesystem::path& path, bool is_compressed = false);
  ~DumpWriter();

  /// Starts the record /{op_name}/{seq}. Returns seq, which counts all records from 1, or from the
  /// last given seq. Names of notes must be in kNoteNames. A record without datasets keeps no
  /// notes. Errors: throws Error also if the record exists.
  int begin_record(std::string_view op_name, DeviceType device, const std::vector<Note>& notes = {},
                   std::optional<int> seq = std::nullopt);

  /// True if this is the current record.
  bool is_in_record(std::string_view op_name, int seq) const;

  /// Adds a tensor to the current record: the elements of `storage`, whose layout is `desc`.
  /// Padding lanes are not read. `name` may be that of a list element, "grads/grads_0". Memory: a
  /// few MiB for any tensor size.
  void write_input(std::string_view name, const TensorDesc& desc, const void* storage);
  void write_output(std::string_view name, const TensorDesc& desc, const void* storage);

  /// Adds a scalar attribute of the operator to the current record.
  void write_input_scalar(std::string_view name, double value);
  void write_input_scalar(std::string_view name, std::int64_t value);
  void write_input_scalar(std::string_view name, bool value);
  void write_input_list(std::string_view name, std::span<const std::int64_t> values);

  /// Adds data that is not a tensor of an operator: /opbench/1/{name}, one-dimensional, of i8, i64
  /// or f64. `name` has two components, "samples/start_us". DumpFile::attachments returns it.
  void attach(std::string_view name, StoredType stored, std::size_t count, const void* values);

  /// Number of records begun.
  int records() const;
  /// True after a failed write; `finish` then throws.
  bool has_failed() const;

  /// Closes the file and renames it to its final name.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Version of the HDF5 library at run time: "1.10.8".
std::string hdf5_version();

}  // namespace opbench
