// Histories of checks: lines written by other programs, or left by a killed run.
#include <cstdint>
#include <sstream>

#include "harness/check/trend.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace opbench::check;
  const std::string text(reinterpret_cast<const char*>(data), size);
  opbench::succeeds(
      [&] {
        const History history = parse_history(text, "f.jsonl");
        for (const std::string& notice : history.notices) opbench::require_one_line(notice);
        if (history.runs.empty()) return;
        std::size_t appearances = 0;
        for (const PastRun& run : history.runs) appearances += run.items.size();
        for (const Trend& trend : trends_of(history)) {
          opbench::require(trend.timed <= trend.verdicts.size(), "no run is counted twice",
                           trend.item.key);
          opbench::require(trend.verdicts.size() <= appearances, "every verdict is of a run",
                           trend.item.key);
        }
        std::ostringstream out;
        write_trends(out, history);
        opbench::require(out.str().starts_with("### opbench: "), "trends are Markdown", out.str());
      },
      "f.jsonl:");
  return 0;
}
