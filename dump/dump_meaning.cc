#include "dump/dump_meaning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "dump/hdf5/layout.h"
#include "tensor/error.h"
#include "tensor/shape.h"

namespace opbench {
namespace {

using hdf5::SaveType;

EntryKind kind_of(std::int64_t save_type, std::string& warning) {
  switch (static_cast<SaveType>(save_type)) {
    case SaveType::tensor:
      return EntryKind::tensor;
    case SaveType::i64:
    case SaveType::boolean:
    case SaveType::real:
    case SaveType::opt_real:
    case SaveType::scalar:
    case SaveType::opt_i64:
    case SaveType::opt_scalar:
    case SaveType::size:
      return EntryKind::scalar;
    case SaveType::vec_i64:
    case SaveType::scalar_type:
    case SaveType::pair:
    case SaveType::ar_long_int:
    case SaveType::opt_memory_format:
    case SaveType::tensor_options:
      return EntryKind::other;
  }
  add_remark(warning, fmt::format("attribute Type is {}, which has no meaning; known are 0 "
                                  "(tensor), 2 to 7, 9, 10 and 13 to 18; taken as a tensor",
                                  save_type));
  return EntryKind::tensor;
}

constexpr std::int64_t kBfloat16 = 16;

std::optional<DType> numbered_dtype(std::int64_t number) {
  if (number == kBfloat16) return DType::bf16;
  if (number != static_cast<std::int32_t>(number)) return std::nullopt;
  const auto row = hdf5::data_type_row(static_cast<std::int32_t>(number));
  return row ? std::optional(row->dtype) : std::nullopt;
}

DType stated_dtype(DumpEntry& entry, const OwnMarks& marks) {
  if (marks.dtype) {
    try {
      return parse_dtype(*marks.dtype);
    } catch (const Error& error) {
      add_remark(entry.warning, fmt::format("attribute opbench_dtype: {}", error.what()));
    }
  }
  const auto& number = entry.attributes.data_type;
  // The only Scalar that the dumper writes as one byte is a bool.
  const bool is_flag = entry.kind == EntryKind::scalar && entry.stored == StoredType::i8;
  const DType stored = is_flag ? DType::boolean : dtype_of(entry.stored);
  if (number) {
    if (const auto dtype = numbered_dtype(*number)) return *dtype;
    add_remark(entry.warning, fmt::format("attribute DataType is {} ({}), which is not supported; "
                                          "the values are taken as {}",
                                          *number, data_type_text(*number), name(stored)));
  } else if (entry.kind == EntryKind::tensor) {
    add_remark(entry.warning,
               fmt::format("no attribute DataType; the values are taken as {}", name(stored)));
  }
  return stored;
}

std::optional<Format> stated_format(const DumpEntry& entry, const OwnMarks& marks) {
  if (marks.format) {
    try {
      return parse_format(*marks.format);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  const auto& number = entry.attributes.format_type;
  if (!number) return std::nullopt;
  const auto found = std::find_if(kAllFormats.begin(), kAllFormats.end(), [&](Format format) {
    return static_cast<std::int64_t>(format) == *number;
  });
  return found == kAllFormats.end() ? std::nullopt : std::optional(*found);
}

// Dumpers before August 2021 wrote CPU and GPU tensors in storage order. NPU tensors were always in
// row-major order.
void interpret_stride(DumpEntry& entry) {
  const auto& device = entry.attributes.device_type;
  const auto& stride = entry.attributes.stride;
  const Dims& shape = entry.desc.shape;
  const std::int64_t elements = entry.desc.elements();
  if (!device || (*device != 0 && *device != 1) || !stride || elements == 0) return;
  if (stays_inside(shape, *stride, elements)) {
    entry.is_strided = !is_contiguous({shape, *stride, 0});
    return;
  }
  add_remark(entry.warning,
             fmt::format("attribute Stride is [{}], which does not fit shape {}; row-major order "
                         "is assumed",
                         fmt::join(*stride, ", "), to_string(shape)));
}

void interpret_tensor(DumpEntry& entry, const OwnMarks& marks) {
  const auto& device = entry.attributes.device_type;
  if (device && *device == static_cast<std::int32_t>(*device)) {
    entry.device = static_cast<DeviceType>(*device);
  }
  entry.format = stated_format(entry, marks);
  if (entry.desc.dtype == DType::fp16 && device && *device == 0 && !marks.dtype &&
      entry.stored == StoredType::f32) {
    add_remark(entry.warning, "fp16 from the CPU, which Ascend's dumper writes wrongly");
  }
  interpret_stride(entry);
  // Only strided reads need the numbers: the list of a dump has one for each tensor.
  if (!entry.is_strided && entry.attributes.stride) entry.attributes.stride.emplace();
}

void interpret_kind(DumpEntry& entry) {
  const DumpAttributes& attributes = entry.attributes;
  entry.kind = EntryKind::tensor;
  if (attributes.type) {
    entry.kind = kind_of(*attributes.type, entry.warning);
  } else if (attributes.count == 0) {
    add_remark(entry.warning, "no attributes; taken as a tensor");
  } else if (attributes.count == 1 && attributes.device_type) {
    add_remark(entry.problem,
               "no attribute Type: Ascend's dumper omits it for dtypes that it does not "
               "support (bf16, complex, quantised)");
  } else {
    add_remark(entry.warning, "no attribute Type; taken as a tensor");
  }
}

bool holds_floats(StoredType stored) {
  return stored == StoredType::f16 || stored == StoredType::f32 || stored == StoredType::f64;
}

// Codes, such as the bits of a float8 stored as integers, must not be compared as numbers.
void check_meaning(DumpEntry& entry) {
  const std::int64_t number = entry.attributes.data_type.value_or(0);
  constexpr std::int64_t kString = 8, kComplex64 = 14, kFirstFloat8 = 17, kLastFloat8 = 20;
  const bool needs_floats =
      number == kBfloat16 || (number >= kFirstFloat8 && number <= kLastFloat8);
  const bool is_never =
      number == kString || (number >= kComplex64 && number < kBfloat16);  // complex128 is 15
  if (!is_never && (!needs_floats || holds_floats(entry.stored))) return;
  add_remark(entry.problem,
             fmt::format("{} stored as {} is not supported; allowed as attribute DataType are 1 "
                         "float, 2 uint8, 3 int8, 5 int16, 6 int32, 7 int64, 9 bool, 10 float16, "
                         "11 double, and 16 bfloat16 stored as floating point",
                         data_type_text(number), entry.stored_name));
}

// ONNX's numbers 8 (string) and 17 to 22 (fp8 and int4), and complex numbers, have no C++ type: the
// stored bytes are codes.
bool is_complex_type(std::int64_t data_type) { return data_type == 14 || data_type == 15; }

bool is_code(std::int64_t data_type) {
  return data_type == 8 || (data_type >= 17 && data_type <= 22);
}

}  // namespace

DType dtype_of(StoredType stored) {
  switch (stored) {
    case StoredType::f16:
      return DType::fp16;
    case StoredType::bf16:
      return DType::bf16;
    case StoredType::none:
    case StoredType::f32:
    case StoredType::c64:
      return DType::fp32;
    case StoredType::c128:
    case StoredType::f64:
      return DType::fp64;
    case StoredType::i8:
      return DType::int8;
    case StoredType::u8:
      return DType::uint8;
    case StoredType::i16:
      return DType::int16;
    case StoredType::u16:
    case StoredType::i32:
      return DType::int32;
    case StoredType::u32:
    case StoredType::i64:
    case StoredType::u64:
      return DType::int64;
    case StoredType::boolean:
      break;
  }
  return DType::boolean;
}

bool holds_codes(const DumpEntry& entry) {
  if (entry.stored == StoredType::c64 || entry.stored == StoredType::c128) return true;
  const std::int64_t number = entry.attributes.data_type.value_or(0);
  // Widened fp8 and int4 hold their values. Complex numbers hold only their real parts.
  return is_complex_type(number) || (is_code(number) && !holds_floats(entry.stored));
}

std::string codes_text(const DumpEntry& entry) {
  if (!entry.attributes.data_type) return fmt::format("{} is not supported", entry.stored_name);
  const std::int64_t number = *entry.attributes.data_type;
  return fmt::format("DataType {} ({}) is not supported", number, data_type_text(number));
}

bool holds_no_values(const DumpEntry& entry) {
  const DumpAttributes& attributes = entry.attributes;
  const bool is_no_number = entry.stored == StoredType::none && !entry.stored_name.empty();
  const bool is_left_empty = attributes.count == 1 && attributes.device_type && !attributes.type;
  return holds_codes(entry) || is_no_number || is_left_empty;
}

void interpret(DumpEntry& entry, const Dims& shape, const OwnMarks& marks) {
  interpret_kind(entry);
  entry.desc = describe(stated_dtype(entry, marks), shape);
  if (entry.kind != EntryKind::tensor) return;
  interpret_tensor(entry, marks);
  check_meaning(entry);
}

bool stays_inside(const Dims& shape, const Dims& stride, std::int64_t elements) {
  if (stride.size() != shape.size()) return false;
  std::int64_t highest = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] <= 1) continue;
    // A negative step leads below the first element, which is at place 0.
    if (stride[axis] < 0) return false;
    if (stride[axis] > (elements - 1 - highest) / (shape[axis] - 1)) return false;
    highest += (shape[axis] - 1) * stride[axis];
  }
  return highest < elements;
}

std::string data_type_text(std::int64_t number) {
  constexpr std::array<std::string_view, 23> kOnnx = {"undefined",
                                                      "float",
                                                      "uint8",
                                                      "int8",
                                                      "uint16",
                                                      "int16",
                                                      "int32",
                                                      "int64",
                                                      "string",
                                                      "bool",
                                                      "float16",
                                                      "double",
                                                      "uint32",
                                                      "uint64",
                                                      "complex64",
                                                      "complex128",
                                                      "bfloat16",
                                                      "float8_e4m3fn",
                                                      "float8_e4m3fnuz",
                                                      "float8_e5m2",
                                                      "float8_e5m2fnuz",
                                                      "uint4",
                                                      "int4"};
  if (number < 0 || number >= static_cast<std::int64_t>(kOnnx.size())) return "unknown";
  return std::string(kOnnx[static_cast<std::size_t>(number)]);
}

void add_remark(std::string& remarks, const std::string& remark) {
  remarks += (remarks.empty() ? "" : "; ") + remark;
}

}  // namespace opbench
