#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/check/profile_watch.h"
#include "tests/fuzz/fuzz.h"

namespace {

opbench::IngestResult read(std::string_view text) {
  constexpr std::size_t kSamples = 64;
  opbench::IngestResult result;
  result.hot_spots.keep_samples(kSamples);
  opbench::ingest_bytes(opbench::bytes_of(std::string(text)), "f.csv", result);
  return result;
}

}  // namespace

// Any bytes as two profiles, separated by a line "--after": every operator of both is in one row,
// and all values are numbers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBetween = "\n--after\n";
  const std::size_t at = std::min(text.find(kBetween), text.size());
  const std::string_view rest = text.substr(at);
  const opbench::IngestResult before = read(text.substr(0, at));
  const opbench::IngestResult after = read(rest.substr(std::min(kBetween.size(), rest.size())));
  const auto comparison = opbench::check::compare_profiles(before, after, {});
  for (const opbench::check::ProfileChange& one : comparison.changes) {
    opbench::require(one.count_before + one.count_after > 0, "an operator was there", one.type);
    opbench::require(std::isfinite(one.of_network) && one.adjusted_p >= one.p && one.p >= 0,
                     "a change is weighed", one.type);
  }
  std::ostringstream printed, json;
  opbench::check::print_profile_comparison(printed, comparison, {.top = 0});
  opbench::check::write_profile_comparison(json, comparison, "");
  opbench::require(nlohmann::json::accept(json.str()), "the file is JSON", json.str());
  return 0;
}
