#include "harness/record.h"

#include <algorithm>

namespace opbench {
namespace {

Cell timed(const Record& record, double value) { return record.is_timed() ? Cell(value) : Cell(); }

Cell compared(const Record& record, double value) {
  return record.is_compared ? Cell(value) : Cell();
}

constexpr Field kFields[] = {
    {"case", "", [](const Record& r) -> Cell { return r.case_id; }},
    {"name", "", [](const Record& r) -> Cell { return r.case_name; }},
    {"op", "", [](const Record& r) -> Cell { return r.op; }},
    {"variant", "", [](const Record& r) -> Cell { return r.variant; }},
    {"provider", "", [](const Record& r) -> Cell { return r.provider; }},
    {"kernels", "", [](const Record& r) -> Cell { return r.kernels; }},
    {"shape", "", [](const Record& r) -> Cell { return r.shape; }},
    {"attributes", "", [](const Record& r) -> Cell { return r.attributes; }},
    {"dtype", "", [](const Record& r) -> Cell { return r.dtype; }},
    {"format", "", [](const Record& r) -> Cell { return r.format; }},
    {"backward", "", [](const Record& r) -> Cell { return r.backward; }},
    {"count", "", [](const Record& r) -> Cell { return std::int64_t{r.count}; }},
    {"threads", "", [](const Record& r) -> Cell { return std::int64_t{r.threads}; }},
    {"isa", "", [](const Record& r) -> Cell { return r.isa; }},
    {"cold", "", [](const Record& r) -> Cell { return r.cold; }},
    {"status", "", [](const Record& r) -> Cell { return std::string(name(r.status)); }},
    {"reason", "", [](const Record& r) -> Cell { return r.reason; }},
    {"median", "us", [](const Record& r) { return timed(r, r.median_us); }},
    {"mad", "us", [](const Record& r) { return timed(r, r.mad_us); }},
    {"cv", "", [](const Record& r) { return timed(r, r.cv); }},
    {"min", "us", [](const Record& r) { return timed(r, r.min_us); }},
    {"elements", "", [](const Record& r) -> Cell { return r.elements; }},
    {"bytes", "B", [](const Record& r) -> Cell { return r.bytes; }},
    {"operations", "", [](const Record& r) -> Cell { return r.operations; }},
    {"gb_per_s", "GB/s", [](const Record& r) { return timed(r, r.gb_per_s); }},
    {"copy_gb_per_s", "GB/s",
     [](const Record& r) { return r.copy_gb_per_s > 0 ? Cell(r.copy_gb_per_s) : Cell(); }},
    {"percent_of_copy", "%",
     [](const Record& r) { return r.copy_gb_per_s > 0 ? timed(r, r.percent_of_copy) : Cell(); }},
    {"gflop_per_s", "GFLOP/s", [](const Record& r) { return timed(r, r.gflop_per_s); }},
    {"gelements_per_s", "G/s", [](const Record& r) { return timed(r, r.gelements_per_s); }},
    {"speedup_over_native", "",
     [](const Record& r) {
       return r.speedup_over_native > 0 ? Cell(r.speedup_over_native) : Cell();
     }},
    {"best", "", [](const Record& r) -> Cell { return r.is_best; }},
    {"trans_data", "", [](const Record& r) -> Cell { return std::int64_t{r.trans_data}; }},
    {"max_ulp", "ULP", [](const Record& r) { return compared(r, r.max_ulp); }},
    {"mean_ulp", "ULP", [](const Record& r) { return compared(r, r.mean_ulp); }},
    {"max_abs_error", "", [](const Record& r) { return compared(r, r.max_abs); }},
    {"inside_tolerance", "", [](const Record& r) { return compared(r, r.inside_share); }},
    {"min_tolerance", "", [](const Record& r) { return compared(r, r.min_tolerance); }},
    {"nonfinite_mismatches", "",
     [](const Record& r) { return r.is_compared ? Cell(r.nonfinite_mismatches) : Cell(); }},
    {"reproduce", "", [](const Record& r) -> Cell { return r.reproduce; }},
};

}  // namespace

std::string_view name(Status status) {
  constexpr std::string_view kNames[] = {"passed",  "failed",  "mistrusted", "suspicious",
                                         "skipped", "errored", "unverified"};
  return kNames[static_cast<std::size_t>(status)];
}

std::span<const Field> record_fields() { return kFields; }

void summarise_samples(Record& record) {
  if (!record.is_timed()) return;
  std::vector<double> times;
  for (const Sample& sample : record.samples) times.push_back(sample.ns_per_call / 1e3);
  const Spread spread = spread_of(times);
  record.median_us = spread.median;
  record.mad_us = spread.mad;
  record.cv = spread.cv;
  record.min_us = spread.min;
  const double per_us = spread.median > 0 ? 1 / spread.median : 0;
  record.gb_per_s = record.bytes * per_us * 1e-3;
  record.gflop_per_s = record.operations * per_us * 1e-3;
  record.gelements_per_s = record.elements * per_us * 1e-3;
  if (record.copy_gb_per_s > 0) {
    record.percent_of_copy = 100 * record.gb_per_s / record.copy_gb_per_s;
  }
}

void compare_variants(std::span<Record> records) {
  const Record* native = nullptr;
  Record* best = nullptr;
  for (Record& record : records) {
    if (!record.is_timed()) continue;
    if (record.variant == "native") native = &record;
    if (record.status == Status::suspicious) continue;
    if (best == nullptr || record.median_us < best->median_us) best = &record;
  }
  if (best != nullptr) best->is_best = true;
  if (native == nullptr) return;
  for (Record& record : records) {
    if (record.is_timed() && record.median_us > 0) {
      record.speedup_over_native = native->median_us / record.median_us;
    }
  }
}

}  // namespace opbench
