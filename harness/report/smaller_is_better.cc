#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/report/report.h"
#include "harness/report/text.h"
#include "harness/run/record.h"

namespace opbench::report {
namespace {

using Json = nlohmann::ordered_json;

std::string extra_of(const Record& r, const Machine& machine) {
  const Times& times = *r.times;
  std::string text = fmt::format("{}\n{} repetitions, {:.1f} GB/s", r.reproduce,
                                 times.samples.size(), times.gb_per_s);
  if (r.copy_gb_per_s > 0) text += fmt::format(", roofline {}", roofline_text(r));
  return text +
         fmt::format("\n{}\n{}, {} cores, {}", name(r.status), machine.cpu, machine.cores, r.isa);
}

}  // namespace

void write_smaller_is_better(std::ostream& out, std::span<const Record> records,
                             const Machine& machine) {
  Json list = Json::array();
  const std::vector<std::string> names = benchmark_names(records);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Record& r = records[i];
    if (!r.is_timed() || !std::isfinite(r.times->median_us)) continue;
    list.push_back({{"name", names[i]},
                    {"unit", "us"},
                    {"value", r.times->median_us},
                    {"range", fmt::format("± {:.4g}", r.times->mad_us)},
                    {"extra", extra_of(r, machine)}});
  }
  out << list.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench::report
