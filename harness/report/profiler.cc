// Tasks of contexts in the format of the device's profiler.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "harness/report/report.h"
#include "text/cell.h"

namespace opbench::report {
namespace {

// The tasks ran on the host. AI_CORE is only modelled. AI_CPU is part of the device, and advisors
// recommend to avoid it. N/A is read as missing by pandas, whose groupby then drops the rows.
constexpr std::string_view kTaskType = "HOST_CPU";
constexpr std::string_view kModelId = "4294967295";  // -1 of 32 bits: no model

// Header of CANN 8.0.
constexpr std::string_view kSummaryTitles =
    "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,"
    "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,"
    "HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
    "Output Formats,Context ID\n";
constexpr std::string_view kStatisticTitles =
    "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
    "Max Time(us),Ratio(%)\n";

std::string_view device_name(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return "DOUBLE";
    case DType::fp32:
      return "FLOAT";
    case DType::fp16:
      return "FLOAT16";
    case DType::bf16:
      return "DT_BF16";
    case DType::int64:
      return "INT64";
    case DType::int32:
      return "INT32";
    case DType::int16:
      return "INT16";
    case DType::int8:
      return "INT8";
    case DType::uint8:
      return "UINT8";
    case DType::boolean:
      return "BOOL";
    case DType::fp8_e4m3fn:
      return "FLOAT8_E4M3FN";
    case DType::fp8_e5m2:
      return "FLOAT8_E5M2";
    case DType::hif8:
      return "HIFLOAT8";
    case DType::e8m0:
      return "FLOAT8_E8M0";
    case DType::int4:
      return "INT4";
  }
  return "DT_UNDEFINED";
}

std::string format_name(const TensorDesc& desc) {
  const bool is_grouped = desc.format == Format::FRACTAL_Z && desc.groups > 1;
  return is_grouped ? fmt::format("{}:{}", name(desc.format), desc.groups)
                    : std::string(name(desc.format));
}

// "1,3,224,224" as stored; empty for a scalar.
std::string shape_text(const TensorDesc& desc) {
  return fmt::format("{}", fmt::join(desc.storage(), ","));
}

// Joins the texts of all tensors with ';'.
template <class Text>
std::string joined(const std::vector<TensorDesc>& tensors, Text text) {
  std::string result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    result += fmt::format("{}{}", i == 0 ? "" : ";", text(tensors[i]));
  }
  return result;
}

// Shapes have their own quotes inside the cell.
void write_tensors(std::ostream& out, const std::vector<TensorDesc>& tensors) {
  if (tensors.empty()) {
    out << ",N/A,N/A,N/A";
    return;
  }
  out << ',' << csv_quoted(fmt::format("\"{}\"", joined(tensors, shape_text))) << ','
      << joined(tensors, [](const TensorDesc& d) { return device_name(d.dtype); }) << ','
      << joined(tensors, format_name);
}

std::string model_name(const Record& record) {
  return csv_quoted(fmt::format("{} {}", record.case_id, record.variant));
}

/// The end of the tasks written so far, so that times ascend through the whole file.
struct Clock {
  double step_us = 0;  ///< start of the step's first task
  double end_us = 0;   ///< of the last task so far
  std::size_t task = 0;
};

void write_task(std::ostream& out, const Record& record, const TaskTime& task, Clock& clock) {
  const double start = clock.step_us + task.start_us;
  const double wait = clock.task == 0 ? 0 : std::max(0.0, start - clock.end_us);
  out << fmt::format("0,{},{},{},0,{},{},{},static,{},{:.3f},{:.3f},{:.3f},{},0,NO",
                     model_name(record), kModelId, clock.task, record.step->index + 1,
                     csv_quoted(task.name), csv_quoted(task.type), kTaskType, start,
                     task.duration_us, wait, record.threads);
  write_tensors(out, task.inputs);
  write_tensors(out, task.outputs);
  out << ",N/A\n";
  clock.end_us = std::max(clock.end_us, start + task.duration_us);
  ++clock.task;
}

}  // namespace

void write_op_summary(std::ostream& out, std::span<const Record> records) {
  out << kSummaryTitles;
  Clock clock;
  for (const Record& record : records) {
    if (!record.step) continue;
    clock.task = 0;
    clock.step_us = clock.end_us;
    for (const TaskTime& task : record.step->tasks) write_task(out, record, task, clock);
  }
}

void write_op_statistic(std::ostream& out, std::span<const Record> records) {
  out << kStatisticTitles;
  for (const Record& record : records) {
    if (!record.step) continue;
    for (const TypeTime& t : record.step->types) {
      out << fmt::format("0,{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n", model_name(record),
                         csv_quoted(t.type), kTaskType, t.count, t.total_us, t.min_us, t.avg_us,
                         t.max_us, 100 * t.share);
    }
  }
}

}  // namespace opbench::report
