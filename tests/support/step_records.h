#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/record.h"

// Hand-made steps of a context, for tests of the reports on contexts.
namespace opbench::step_records {

inline constexpr double kMiB = 1 << 20;

/// Task type, number of tasks, their time in microseconds.
struct Part {
  std::string type;
  int count;
  double us;
};

inline std::vector<TypeTime> types_of(const std::vector<Part>& parts) {
  double sum = 0;
  for (const Part& part : parts) sum += part.us;
  std::vector<TypeTime> types;
  for (const Part& part : parts) {
    const double average = part.us / part.count;
    types.push_back({part.type, part.count, part.us, average / 2, average, average * 2,
                     sum > 0 ? part.us / sum : 0});
  }
  return types;
}

/// A step that ran. Its time is the sum of its tasks.
inline Record step(const std::string& name, const std::string& after,
                   const std::vector<Part>& parts, StepDetails details = {}) {
  details.context = "shufflenet_v2";
  details.after = after;
  details.types = types_of(parts);
  Record record;
  record.case_id = "shufflenet_v2[fp16,N=8]";
  record.op = "shufflenet_v2";
  record.variant = name;
  record.dtype = "fp16";
  record.threads = 2;
  record.status = Status::passed;
  record.reproduce = "opbench --case 'shufflenet_v2[fp16,N=8]' --threads 2";
  double us = 0;
  for (const Part& part : parts) {
    us += part.us;
    details.nodes += part.count;
    if (part.type == "TransData") details.trans_data = part.count;
    if (part.type == "Cast") details.casts = part.count;
    if (part.type == "contiguous") details.copies = part.count;
  }
  if (us > 0) set_times(record, {{0, us, us * 1e3, 1}, {us, us, us * 1e3, 1}});
  record.trans_data = details.trans_data;
  if (details.us_per_sample == 0) details.us_per_sample = us / 8;
  record.step = std::move(details);
  return record;
}

inline Record with_step(Record record, const StepDetails& details) {
  record.step = details;
  return record;
}

inline TensorDesc desc(DType dtype, Dims shape, Format format) {
  TensorDesc made = describe(dtype, std::move(shape), format);
  made.origin = origin_format_of(format) == Format::ND ? format : origin_format_of(format);
  return made;
}

/// Two tasks: a convolution, and the TransData inserted for it.
inline std::vector<TaskTime> two_tasks() {
  const TensorDesc plain = describe(DType::fp16, {8, 58, 28, 28}, Format::NCHW);
  const TensorDesc blocked = describe(DType::fp16, {8, 58, 28, 28}, Format::NC1HWC0);
  const TensorDesc weight = describe(DType::fp16, {58, 1, 3, 3}, Format::FRACTAL_Z);
  return {{"stage2.1.concat.trans_data0",
           "TransData",
           "trans_data",
           "concat: C=58 is not a multiple of 16",
           0,
           120.5,
           {plain},
           {blocked}},
          {"stage2.1.branch2.dw",
           "DepthwiseConv2D",
           "depthwise_conv2d",
           "",
           123,
           80.25,
           {blocked, weight},
           {blocked}}};
}

/// Forward pass of ShuffleNetV2 during tuning. One step cannot run on a CPU.
inline std::vector<Record> shufflenet() {
  StepDetails d;
  std::vector<Record> steps;
  const auto add = [&](Record record, double over_previous, double over_first) {
    StepDetails details = *record.step;
    details.index = static_cast<int>(steps.size());
    details.speedup_over_previous = over_previous;
    details.speedup_over_first = over_first;
    steps.push_back(with_step(std::move(record), details));
  };
  d.peak_bytes = static_cast<std::size_t>(48.5 * kMiB);
  d.trans_data_bytes = 212.3 * kMiB;
  d.summary = "as the framework has it";
  d.tasks = two_tasks();
  add(step("baseline", "",
           {{"TransData", 118, 9120},
            {"Cast", 12, 610},
            {"contiguous", 32, 4810},
            {"Conv2D", 36, 3920},
            {"DepthwiseConv2D", 19, 2210},
            {"BNInferenceD", 56, 1480},
            {"Relu", 37, 760},
            {"ConcatD", 16, 690},
            {"MaxPool", 1, 95},
            {"ReduceMean", 1, 40},
            {"MatMul", 1, 65}},
           d),
      0, 1);
  d.trans_data_bytes = 150.8 * kMiB;
  d.summary = "concat's output has the format of its first input";
  add(step("concat_5hd", "baseline",
           {{"TransData", 86, 6240},
            {"Cast", 12, 600},
            {"contiguous", 32, 4790},
            {"Conv2D", 36, 3900},
            {"DepthwiseConv2D", 19, 2200},
            {"BNInferenceD", 56, 1490},
            {"Relu", 37, 750},
            {"ConcatD", 16, 720},
            {"MaxPool", 1, 95},
            {"ReduceMean", 1, 40},
            {"MatMul", 1, 65}},
           d),
      1.14, 1.14);
  d.trans_data_bytes = 61.2 * kMiB;
  d.peak_bytes = static_cast<std::size_t>(39.25 * kMiB);
  d.summary = "channel shuffle by one GatherV2";
  add(step("shuffle_gather", "concat_5hd",
           {{"TransData", 40, 2510},
            {"Cast", 12, 600},
            {"Conv2D", 36, 3910},
            {"GatherV2", 16, 1350},
            {"DepthwiseConv2D", 19, 2210},
            {"BNInferenceD", 56, 1480},
            {"Relu", 37, 760},
            {"ConcatD", 16, 720},
            {"MaxPool", 1, 95},
            {"ReduceMean", 1, 40},
            {"MatMul", 1, 65}},
           d),
      1.52, 1.73);
  Record skipped = step("no_sync", "shuffle_gather", {});
  skipped.status = Status::skipped;
  skipped.reason = "stream synchronisation exists on a device only";
  add(skipped, 0, 0);
  d.trans_data_bytes = 4.6 * kMiB;
  d.peak_bytes = static_cast<std::size_t>(36.75 * kMiB);
  d.summary = "parameters are stored as kernels want them";
  Record last = step("weights_init", "shuffle_gather",
                     {{"TransData", 3, 210},
                      {"Conv2D", 36, 3890},
                      {"GatherV2", 16, 1340},
                      {"DepthwiseConv2D", 19, 2190},
                      {"BNInferenceD", 56, 1490},
                      {"Relu", 37, 750},
                      {"ConcatD", 16, 700},
                      {"MaxPool", 1, 95},
                      {"ReduceMean", 1, 40},
                      {"MatMul", 1, 65}},
                     d);
  last.is_best = true;
  add(last, 1.28, 2.21);
  return steps;
}

}  // namespace opbench::step_records
