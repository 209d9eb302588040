// Notes and records in a dump of variants that fail or throw.
#include "harness/run/run_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dump/dump_file.h"
#include "harness/plan/case_graph.h"
#include "harness/run/unit_runner.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;

class RunDump : public testing::Test, protected TempDir {
 protected:
  // Dumps relu of 100 numbers by `prepare`; returns the run's record.
  Record dump(Launch (*prepare)(const Problem&)) {
    const Kernel kernel{.op = "relu", .name = "bad", .summary = "", .prepare = prepare};
    PlannedCase planned{parse_case_id("relu[100,fp32]"), {}, {}};
    planned.graph = build_graph(planned.spec);
    planned.variants = {select_kernels(planned.graph, kernel)};
    RunOptions options;
    options.seconds_per_case = 0.001;
    options.repetitions = 2;
    DumpWriter writer(path_);
    RunHooks hooks;
    hooks.dump.records = &writer;
    PhaseTimes times;
    const Record record = run_work_unit(planned, options, 1, hooks, times).at(0);
    if (writer.records() == 0) return record;
    writer.finish();
    file_.emplace(path_);
    return record;
  }

  const DumpRecord& only() {
    EXPECT_EQ(file_->records().size(), 1u);
    return file_->records().at(0);
  }
  std::string note(const std::string& name) {
    for (const Note& note : only().notes) {
      if (note.name == name) return note.value;
    }
    return "";
  }
  std::vector<float> values(Side side) {
    std::vector<float> read(100);
    file_->read(*only().on(side).at(0), {0, 100}, read.data());
    return read;
  }

  const std::string path_ = path("x.h5");
  std::optional<DumpFile> file_;
};

// Correct except for element 70, which is not written.
TEST_F(RunDump, AFailedVariantIsDumpedOnTheValuesWhereItFailed) {
  const Record record = dump([](const Problem&) -> Launch {
    return [](const KernelArgs& args) {
      const auto* x = static_cast<const float*>(args.inputs[0]);
      auto* y = static_cast<float*>(args.outputs[0]);
      for (int i = 0; i < 100; ++i) {
        if (i != 70) y[i] = x[i] > 0 || std::isnan(x[i]) ? x[i] : 0;
      }
    };
  });
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(note("opbench_status"), "failed");
  EXPECT_EQ(note("opbench_reason"), record.reason);
  EXPECT_THAT(note("opbench_values"), HasSubstr("the verification that failed, seed "));
  const std::vector<float> x = values(Side::input), y = values(Side::output);
  EXPECT_TRUE(std::isnan(y[70])) << "nobody wrote it";
  EXPECT_EQ(y[71], std::isnan(x[71]) ? y[71] : std::max(x[71], 0.0F));
  EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](float v) { return std::isinf(v); }))
      << "corner values are among them";
}

// Correct on the verified values, and wrong on all others. The dump has the values of the judged
// call, not those that were loaded before the calls were timed.
TEST_F(RunDump, AFailedTimedCallIsDumpedOnItsValues) {
  using Numbers = std::vector<float>;
  static Numbers verified, last, before;
  for (Numbers* numbers : {&verified, &last, &before}) numbers->clear();
  const Record record = dump([](const Problem&) -> Launch {
    return [](const KernelArgs& args) {
      const auto* x = static_cast<const float*>(args.inputs[0]);
      auto* y = static_cast<float*>(args.outputs[0]);
      before = std::exchange(last, Numbers(x, x + 100));
      if (verified.empty()) verified = last;
      const bool is_known = std::memcmp(x, verified.data(), 100 * sizeof(float)) == 0;
      for (int i = 0; i < 100; ++i) {
        y[i] = x[i] > 0 || std::isnan(x[i]) ? x[i] : 0;
        if (!is_known) y[i] += 1000;
      }
    };
  });
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, testing::StartsWith("in a timed call: "));
  EXPECT_EQ(values(Side::input), before) << "the call before the dump's own";
  EXPECT_EQ(note("opbench_values"), "");
}

TEST_F(RunDump, AVariantThatThrowsLeavesWhatItHasWritten) {
  const Record record = dump([](const Problem&) -> Launch {
    return [](const KernelArgs& args) {
      static_cast<float*>(args.outputs[0])[3] = 5;
      throw std::runtime_error("no such device");
    };
  });
  EXPECT_EQ(record.status, Status::errored);
  EXPECT_EQ(note("opbench_status"), "errored");
  EXPECT_EQ(note("opbench_reason"), "no such device");
  const std::vector<float> y = values(Side::output);
  EXPECT_EQ(y[3], 5);
  EXPECT_TRUE(std::isnan(y[4]));
}

TEST_F(RunDump, AVariantThatCannotBePreparedLeavesItsInputs) {
  const Record record =
      dump([](const Problem&) -> Launch { throw std::runtime_error("no such library"); });
  EXPECT_EQ(record.status, Status::errored);
  EXPECT_EQ(note("opbench_reason"), "no such library");
  EXPECT_EQ(only().on(Side::input).size(), 1u);
  EXPECT_TRUE(only().on(Side::output).empty());
}

TEST_F(RunDump, APassHasTheTimedValuesAndNoReason) {
  const Record record = dump([](const Problem& problem) -> Launch {
    return kernels_of("relu").front()->prepare(problem);
  });
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_EQ(note("opbench_status"), "passed");
  EXPECT_EQ(note("opbench_reason"), "");
  EXPECT_EQ(note("opbench_values"), "");
  const std::vector<float> x = values(Side::input), y = values(Side::output);
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(std::isfinite(x[i]));
    EXPECT_EQ(y[i], std::max(x[i], 0.0F));
  }
}

}  // namespace
}  // namespace opbench
