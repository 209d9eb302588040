#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dump/dump_types.h"

namespace opbench {

/// Text attributes that only opbench writes.
struct OwnMarks {
  std::optional<std::string> dtype;   ///< opbench_dtype: "bf16", or "fp16" on the CPU
  std::optional<std::string> format;  ///< opbench_format
};

/// Fills in what the attributes, the stored type and the extents of `entry` say together: kind,
/// desc, device, format, is_strided, and what is odd about them as warning or problem.
void interpret(DumpEntry& entry, const Dims& shape, const OwnMarks& marks);

/// True if element [i, j, ..] at place i*stride[0] + j*stride[1] + .. of `elements` is inside for
/// every index. msaccucmp's rule, and for negative steps the lower end too.
bool stays_inside(const Dims& shape, const Dims& stride, std::int64_t elements);

/// The dtype next to how elements are stored: uint32 is int64, complex numbers their parts.
DType dtype_of(StoredType stored);

/// "float8_e4m3fn": what a DataType number means in ONNX, whose numbers the dumper uses.
std::string data_type_text(std::int64_t number);

/// True where the stored numbers are codes of values, and no values: strings, complex numbers, and
/// fp8 and int4 that nobody widened.
bool holds_codes(const DumpEntry& entry);

/// "DataType 14 (complex64) is not supported", of such an entry.
std::string codes_text(const DumpEntry& entry);

/// True where nothing is wrong with the file, and there are no values all the same: codes, elements
/// that are no numbers, and what the dumper leaves of a dtype that it does not know.
bool holds_no_values(const DumpEntry& entry);

/// Appends to a warning or a problem.
void add_remark(std::string& remarks, const std::string& remark);

}  // namespace opbench
