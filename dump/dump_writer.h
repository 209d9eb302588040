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

/// Writes records in the HDF5 layout of Ascend's PyTorch dumper:
/// /{op}/{seq}/{input|output}/{name}, data logical and dense, attributes DeviceType, DataType,
/// FormatType, Type and Stride. What that layout cannot hold goes into attributes named opbench_*:
/// opbench_dtype "bf16" (stored as fp32) or "fp16" on the CPU (which the original dumper gets
/// wrong), opbench_format for private storage formats. Notes stand on every dataset of their
/// record: msaccucmp takes a group that has attributes for a leaf and sees nothing below it.
///
/// Everything goes to a temporary file beside `path`, which takes its place in `finish`. An
/// unfinished file is removed by the destructor, and what stood at `path` before stays.
///
/// Errors: Error for names and tensors that cannot be dumped, after which the writer goes on as
/// before; RunError if the file cannot be written, after which it takes no more and `finish`
/// refuses.
class DumpWriter {
 public:
  /// Compressed, tensors lie in chunks. Errors: "cannot write out/x.h5: No such file or directory"
  /// and the like, as RunError.
  explicit DumpWriter(const std::filesystem::path& path, bool is_compressed = false);
  ~DumpWriter();

  /// Starts the record /{op_name}/{seq}. Returns seq, which counts from 1 over all records, or from
  /// the last one that was given. Notes are among kNoteNames; a record that gets no dataset keeps
  /// none. Errors: throws Error also if there is such a record.
  int begin_record(std::string_view op_name, DeviceType device, const std::vector<Note>& notes = {},
                   std::optional<int> seq = std::nullopt);

  /// True if the record that was begun last is this one.
  bool is_in_record(std::string_view op_name, int seq) const;

  /// Adds a tensor to the current record: the elements of `storage`, which is laid out as `desc`
  /// says. Padding lanes are not read. `name` may be that of a list's element, "grads/grads_0".
  /// Memory: a few MiB, whatever the tensor's size.
  void write_input(std::string_view name, const TensorDesc& desc, const void* storage);
  void write_output(std::string_view name, const TensorDesc& desc, const void* storage);

  /// Adds an attribute of the operator to the current record.
  void write_input_scalar(std::string_view name, double value);
  void write_input_scalar(std::string_view name, std::int64_t value);
  void write_input_scalar(std::string_view name, bool value);
  void write_input_list(std::string_view name, std::span<const std::int64_t> values);

  /// Adds what is no tensor of an operator: /opbench/1/{name}, of i8, i64 or f64 in one dimension;
  /// `name` has two components, "samples/start_us". DumpFile::attachments has it.
  void attach(std::string_view name, StoredType stored, std::size_t count, const void* values);

  /// Records begun so far.
  int records() const;
  /// True after a write that failed: `finish` will refuse.
  bool has_failed() const;

  /// Closes the file and gives it its real name.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Version of the HDF5 library that runs: "1.10.8".
std::string hdf5_version();

}  // namespace opbench
