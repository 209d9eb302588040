#include "harness/run/benchmark_name.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace opbench {

std::string benchmark_name(std::string_view case_id, std::string_view variant, int threads,
                           bool is_cold) {
  return fmt::format("{}{}{}/threads:{}{}", case_id, variant.empty() ? "" : "/", variant, threads,
                     is_cold ? "/cold" : "");
}

std::string benchmark_name(const Record& record) {
  return benchmark_name(record.case_id, record.variant, record.threads, record.cold);
}

std::vector<std::string> benchmark_names(std::span<const Record> records) {
  std::map<std::string, std::set<std::string>> isas;
  for (const Record& record : records) isas[benchmark_name(record)].insert(record.isa);
  std::vector<std::string> names;
  for (const Record& record : records) {
    std::string name = benchmark_name(record);
    if (isas[name].size() > 1) name += fmt::format("/isa:{}", record.isa);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace opbench
