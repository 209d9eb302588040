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

/// Where a dumped tensor lived, with c10's numbers. A file may hold others.
enum class DeviceType : std::int32_t { cpu = 0, cuda = 1, npu = 10 };

/// "CPU", "CUDA", "NPU", else "device 9".
std::string to_string(DeviceType device);

/// What a record is, beside its tensors: a string attribute of each of its datasets, which other
/// readers ignore. Older dumps have them on the record's group.
struct Note {
  std::string name;
  std::string value;

  bool operator==(const Note&) const = default;
};

/// What a note may be called; a reader asks for these.
inline constexpr std::array<std::string_view, 11> kNoteNames = {
    "opbench_case",   "opbench_variant", "opbench_kernel", "opbench_call",
    "opbench_status", "opbench_reason",  "opbench_values", "opbench_task",
    "opbench_cause",  "opbench_module",  "opbench_source"};

/// The HDF5 type of a dataset's elements, whatever its attributes say they mean.
/// The last three are of other files than dumps: HDF5 has no such numbers.
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
  c64,   ///< complex, two f32
  c128,  ///< complex, two f64
};

/// Bytes of one element in memory; 0 for `none`.
std::size_t size_of(StoredType stored);

/// "float32": as numpy spells it, and "bfloat16"; none has no name.
std::string_view numpy_name(StoredType stored);

/// How elements are stored and what that means: uint8 is stored as int8, bf16 as f32.
struct ValueKind {
  StoredType stored = StoredType::none;
  DType dtype = DType::fp32;
};

enum class EntryKind { tensor, scalar, other };

enum class Side { input, output, other };
constexpr std::string_view name(Side side) {
  return side == Side::input ? "input" : side == Side::output ? "output" : "other";
}

/// The attributes of a dataset that holds whole numbers, as they stand in the file; none where they
/// are missing or hold anything else.
struct DumpAttributes {
  std::optional<std::int64_t> type;         ///< Type: SaveType of the dumper, 0 is a tensor
  std::optional<std::int64_t> data_type;    ///< DataType: 1 Float ... 11 Double
  std::optional<std::int64_t> device_type;  ///< DeviceType
  std::optional<std::int64_t> format_type;  ///< FormatType
  std::optional<Dims> stride;               ///< Stride, of any length
  int count = 0;                            ///< all attributes of the dataset, known or not
};

/// One dataset of a record.
struct DumpEntry {
  std::string name;  ///< below input or output: "self", "grads/grads_0"; else below the record
  std::string path;  ///< in the file: "/MulBackward0/3/input/grads/grads_0"
  Side side = Side::other;
  EntryKind kind = EntryKind::other;
  /// Dense and logical, in the dtype that was dumped; where the attributes do not tell it, the one
  /// next to how it is stored.
  TensorDesc desc;
  DumpAttributes attributes;
  StoredType stored = StoredType::none;
  /// As numpy spells the stored type: "float32", ">f4", "bool"; else what it is: "string".
  std::string stored_name;
  DeviceType device = DeviceType::cpu;
  std::optional<Format> format;  ///< of the storage it came from; none if the number is unknown
  /// The elements lie in the order of attributes.stride and are read in logical order.
  bool is_strided = false;
  /// Where the data begins in the file, if it lies there in one piece and in this machine's byte
  /// order; else -1, and the HDF5 library has to read it.
  std::int64_t offset = -1;
  std::string problem;  ///< why it cannot be read; empty if it can
  std::string warning;  ///< why the values may be wrong although they can be read
};

/// One call of an operator: /{op}/{seq} of a dump file.
struct DumpRecord {
  std::string op;
  std::string seq_text;             ///< the group's name: "7", "007", "step1"
  std::optional<std::int64_t> seq;  ///< as a number, if it is one
  std::vector<Note> notes;
  std::vector<DumpEntry> entries;  ///< in the file's order: components of the path by their bytes
  bool has_input_group = false;    ///< there is an `input`, whatever it holds

  std::vector<const DumpEntry*> on(Side side) const;
  /// The value of the note of that name; null without one.
  const std::string* note(std::string_view name) const;
};

/// The operator that attachments of a dump stand under: results of a run, no tensors. They have
/// attributes that other readers pass over.
inline constexpr std::string_view kAttachmentsOp = "opbench";

/// "a/b" -> "a", "b". Empty components are kept: "/a" -> "", "a".
std::vector<std::string> split_components(std::string_view name);

/// Why `component` cannot name an HDF5 link; empty if it can.
std::string component_problem(std::string_view component);

/// Errors: throws Error unless `name` is one component.
void check_op_name(std::string_view name);

/// The components of a tensor's name: an argument, or a list and its element.
/// Errors: throws Error for any other number of them, and bad ones.
std::vector<std::string> tensor_name_components(std::string_view name);

}  // namespace opbench
