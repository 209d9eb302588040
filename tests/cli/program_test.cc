// The built program in its own process: signals, memory, cost.
#include "tests/support/program.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {

TEST(Program, CtrlCKeepsWhatWasMeasured) {
  const TempDir directory;
  const std::string json = directory.path("x.json");
  std::vector<std::string> words = {program(), "--variant", "native", "--json",
                                    json,      "--time",    "0.1",    "--verbose"};
  // All cases together would take minutes.
  for (int i = 0; i < 2000; ++i) {
    words.insert(words.end(), {"--case", "relu[" + std::to_string(100 + i) + ",fp32]"});
  }
  Process process(words);
  EXPECT_TRUE(process.has_printed("relu[101,fp32,ND]"));
  process.send(SIGINT);
  const Outcome ended = process.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.out.find("Interrupted: what was complete is kept."), std::string::npos);
  const auto results = nlohmann::json::parse(text_of(json));
  EXPECT_TRUE(results["run"]["interrupted"]);
  EXPECT_GE(results["records"].size(), 2u);
  EXPECT_LT(results["records"].size(), 2000u);
  for (const auto& record : results["records"]) EXPECT_EQ(record["status"], "passed");
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kMemoryIsReal = false;  // the sanitizer's memory would be counted
#else
constexpr bool kMemoryIsReal = true;
#endif

// The memory is that of the inputs and outputs of the largest case, for any number of variants,
// plus 64 MiB.
TEST(Program, MemoryDoesNotGrowWithVariants) {
  if (!kMemoryIsReal) GTEST_SKIP() << "memory under the address sanitizer is not the program's own";
  const Outcome ended =
      run_program({"--case", "softplus[8x64x112x112,fp32,NC1HWC0]", "--case",
                   "softplus[8x64x112x112,fp16,NCHW]", "--time", "0.01", "--repetitions", "2"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const std::size_t case_bytes = 2ull * 8 * 64 * 112 * 112 * 4;
  EXPECT_LE(ended.peak_bytes, case_bytes + (64u << 20));
}

TEST(Program, StandardOutputThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(shell("'" + program() + "' list > /dev/full").code, 3);
}

}  // namespace opbench
