#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "harness/run/record.h"

namespace opbench::report {

/// The timed variants of a case that ran on one device, for a file with the name that the guides'
/// profiling script gives: "softplus_device_npu_dtype_fp16_shape_128_64_128_128_5HD.prof".
/// Attributes follow the shape; a number follows if the name is taken.
struct ProfFile {
  std::string name;
  std::vector<const Record*> records;
};
/// Without contexts, and without records that were not timed.
std::vector<ProfFile> prof_files(std::span<const Record> records);

/// A Chrome trace like export_chrome_trace of torch.autograd.profiler: an array with an event for
/// each repetition, with the time of one call.
void write_prof(std::ostream& out, const ProfFile& file);

}  // namespace opbench::report
