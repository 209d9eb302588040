#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/format.h"
#include "tensor/tensor.h"

namespace opbench {

/// Device of a dumped tensor, with c10's numbers. A file may hold other numbers.
enum class DeviceType : std::int32_t { cpu = 0, cuda = 1, npu = 10 };

/// Returns "CPU", "CUDA", "NPU", else "device 9".
std::string to_string(DeviceType device);

/// Information about a record in addition to its tensors. Each dataset of the record has it as a
/// string attribute, which other readers ignore. Older dumps have it on the record's group.
struct Note {
  std::string name;
  std::string value;

  bool operator==(const Note&) const = default;
};

/// Names of notes. Readers open these attributes by name.
inline constexpr std::array<std::string_view, 11> kNoteNames = {
    "opbench_case",   "opbench_variant", "opbench_kernel", "opbench_call",
    "opbench_status", "opbench_reason",  "opbench_values", "opbench_task",
    "opbench_cause",  "opbench_module",  "opbench_source"};

/// Type of a dataset's elements in the file, independent of its attributes. HDF5 dumps do not use
/// the last three; other formats do.
enum class StoredType {
  none,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  bf16,
  c64,   ///< complex of two f32
  c128,  ///< complex of two f64
};

/// Bytes of an element in memory; 0 for `none`.
std::size_t size_of(StoredType stored);

/// numpy's name, such as "float32", and "bfloat16"; empty for `none`.
std::string_view numpy_name(StoredType stored);

/// Stored type and dtype of elements: uint8 is stored as int8, bf16 as f32.
struct ValueKind {
  StoredType stored = StoredType::none;
  DType dtype = DType::fp32;
};

enum class EntryKind { tensor, scalar, other };

enum class Side { input, output, other };
constexpr std::string_view name(Side side) {
  return side == Side::input ? "input" : side == Side::output ? "output" : "other";
}

/// Integer attributes of a dataset, with the values in the file. Empty if missing or of another
/// type.
struct DumpAttributes {
  std::optional<std::int64_t> type;         ///< Type: SaveType of the dumper, 0 is a tensor
  std::optional<std::int64_t> data_type;    ///< DataType: 1 Float ... 11 Double
  std::optional<std::int64_t> device_type;  ///< DeviceType
  std::optional<std::int64_t> format_type;  ///< FormatType
  std::optional<Dims> stride;               ///< Stride, of any length; empty unless it is strided
  int count = 0;  ///< number of all attributes of the dataset, known or not
};

/// A dataset of a record.
struct DumpEntry {
  std::string
      name;  ///< path below input or output: "self", "grads/grads_0"; else path below the record
  std::string path;  ///< path in the file: "/MulBackward0/3/input/grads/grads_0"
  Side side = Side::other;
  EntryKind kind = EntryKind::other;
  /// Dense and logical, with the dumped dtype. If the attributes do not state it, the dtype closest
  /// to the stored type.
  TensorDesc desc;
  DumpAttributes attributes;
  StoredType stored = StoredType::none;
  /// numpy's name of the stored type: "float32", ">f4", "bool"; else the type class: "string".
  std::string stored_name;
  DeviceType device = DeviceType::cpu;
  std::optional<Format> format;  ///< format of the original storage; empty for an unknown number
  /// The elements are in the order of attributes.stride. Reads return logical order.
  bool is_strided = false;
  /// Offset of the data in the file, if it is contiguous and in this machine's byte order; else -1,
  /// and the HDF5 library must read it.
  std::int64_t offset = -1;
  std::string problem;  ///< why it cannot be read; else empty
  std::string warning;  ///< why the values may be wrong although they can be read
};

/// One execution of an operator: /{op}/{seq} of a dump file.
struct DumpRecord {
  std::string op;
  std::string seq_text;             ///< the group's name: "7", "007", "step1"
  std::optional<std::int64_t> seq;  ///< the name as a number; empty if it is not a number
  std::vector<Note> notes;
  std::vector<DumpEntry> entries;  ///< in the file's order: path components by their bytes
  bool has_input_group = false;    ///< the group `input` exists, with any content

  std::vector<const DumpEntry*> on(Side side) const;
  /// Returns the value of a note; null if it is missing.
  const std::string* note(std::string_view name) const;
};

/// Operator name of attachments in a dump. Attachments are results of a run, not tensors. Their
/// attributes make other readers skip them.
inline constexpr std::string_view kAttachmentsOp = "opbench";

/// Splits "a/b" into "a", "b". Empty components are kept: "/a" gives "", "a".
std::vector<std::string> split_components(std::string_view name);

/// Returns why `component` cannot name an HDF5 link; empty if it can.
std::string component_problem(std::string_view component);

/// Errors: throws Error unless `name` is a single valid component.
void check_op_name(std::string_view name);

/// Returns the components of a tensor's name: an argument, or a list and its element. Errors:
/// throws Error for any other count, and for invalid components.
std::vector<std::string> tensor_name_components(std::string_view name);

}  // namespace opbench
