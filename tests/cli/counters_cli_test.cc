// `opbench run --counters`.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "tests/support/source_tree.h"

namespace opbench {

using testing::HasSubstr;

TEST(CountersCli, AreInTheTableAndTheResults) {
  const std::vector<std::string> args = {"--case", "relu[64,fp32]", "--variant", "native",
                                         "--time", "0.01",          "--counters"};
  const Outcome table = opbench_with(args);
  EXPECT_EQ(table.code, 0) << table.err;
  if (table.err.find("cpu_us") != std::string::npos) {
    EXPECT_THAT(table.err, HasSubstr("not counted: "));
    return;
  }
  EXPECT_THAT(table.out, HasSubstr("\n  per call"));
  EXPECT_THAT(table.out, HasSubstr("faults"));
  std::vector<std::string> more = args;
  more.insert(more.end(), {"--json", "-"});
  const auto counters = nlohmann::json::parse(opbench_with(more).out)["records"][0]["counters"];
  EXPECT_GT(counters["cpu_us"], 0);
  EXPECT_GE(counters["page_faults"], 0);
  EXPECT_EQ(opbench_with({"--case", "relu[4,fp32]", "--counters", "--time", "0"}).code, 2);
}

}  // namespace opbench
