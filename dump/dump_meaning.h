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

/// "float8_e4m3fn": what a DataType number means in ONNX, whose numbers the dumper uses.
std::string data_type_text(std::int64_t number);

/// Appends to a warning or a problem.
void add_remark(std::string& remarks, const std::string& remark);

}  // namespace opbench
