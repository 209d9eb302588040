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

/// Derives kind, desc, device, format and is_strided of `entry` from its attributes, stored type
/// and extents. Inconsistencies are added as warning or problem.
void interpret(DumpEntry& entry, const Dims& shape, const OwnMarks& marks);

/// True if every element [i, j, ..], at place i*stride[0] + j*stride[1] + .., is inside of
/// `elements` elements. msaccucmp's rule, and in addition the lower bound for negative steps.
bool stays_inside(const Dims& shape, const Dims& stride, std::int64_t elements);

/// The dtype closest to a stored type: int64 for uint32, the type of the parts for complex.
DType dtype_of(StoredType stored);

/// Meaning of a DataType number in ONNX, whose numbers the dumper uses: "float8_e4m3fn".
std::string data_type_text(std::int64_t number);

/// True if the stored numbers are codes instead of values: strings, complex numbers, and fp8 and
/// int4 that were not widened.
bool holds_codes(const DumpEntry& entry);

/// Message for an entry that holds codes: "DataType 14 (complex64) is not supported".
std::string codes_text(const DumpEntry& entry);

/// True if the file is correct but has no values for the entry: codes, elements that are not
/// numbers, and the dataset that the dumper leaves for an unknown dtype.
bool holds_no_values(const DumpEntry& entry);

/// Appends to a warning or a problem.
void add_remark(std::string& remarks, const std::string& remark);

}  // namespace opbench
