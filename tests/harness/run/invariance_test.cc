// A kernel whose bits depend on one condition is detected in that column only. No variant of
// opbench is detected.
#include "harness/run/invariance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <sstream>

#include "harness/run/example_case.h"
#include "harness/run/invariance_json.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

constexpr const char* kId = "relu[4x16x6x6,fp32,NCHW]";

/// relu whose last result is increased by 1 if `is_changed(problem, args)` holds.
template <bool (*kIsChanged)(const Problem&, const KernelArgs&)>
Launch prepare(const Problem& problem) {
  return [problem, honest = find_kernel("relu", "relu").prepare(problem)](const KernelArgs& args) {
    honest(args);
    if (!kIsChanged(problem, args)) return;
    static_cast<float*>(args.outputs[0])[problem.outputs[0].elements() - 1] += 1;
  };
}

template <bool (*kIsChanged)(const Problem&, const KernelArgs&)>
InvarianceRow row_of() {
  const Kernel kernel{
      .op = "relu", .name = "planted", .summary = "planted", .prepare = prepare<kIsChanged>};
  return check_invariance(kernel, parse_case_id(kId));
}

// The state of a column without difference. Arm has one instruction set.
InvarianceCell::State honest(Invariance column) {
  const bool is_alone = column == Invariance::isa && supported_isas().size() < 2;
  return is_alone ? InvarianceCell::not_applicable : InvarianceCell::same;
}

void expect_only(const InvarianceRow& row, Invariance column, const std::string& how) {
  for (std::size_t i = 0; i < kInvariances; ++i) {
    const InvarianceCell& cell = row.cells[i];
    const bool is_planted = static_cast<Invariance>(i) == column;
    EXPECT_EQ(cell.state, is_planted ? InvarianceCell::differs : honest(static_cast<Invariance>(i)))
        << name(static_cast<Invariance>(i)) << ' ' << cell.first.how << ' ' << cell.reason;
  }
  EXPECT_EQ(row.at(column).first.how, how);
  EXPECT_THAT(row.at(column).first.place, testing::StartsWith("result["));
  EXPECT_NE(row.at(column).first.here, row.at(column).first.there);
  EXPECT_TRUE(row.differs());
}

int calls = 0;
std::string other;

bool is_address_odd(const KernelArgs& args) {
  return (reinterpret_cast<std::uintptr_t>(args.inputs[0]) / 64) % 2 == 1;
}

bool is_third(const Problem&, const KernelArgs&) { return ++calls == 3; }

bool has_three_threads(const Problem&, const KernelArgs&) { return thread_count() == 3; }

bool is_alone(const Problem& problem, const KernelArgs&) { return problem.inputs[0].shape[0] == 1; }

bool is_odd(const Problem&, const KernelArgs& args) { return is_address_odd(args); }

bool reads_on(const Problem& problem, const KernelArgs& args) {
  return static_cast<const std::uint8_t*>(args.inputs[0])[problem.inputs[0].bytes()] == 0x3C;
}

bool is_5hd(const Problem& problem, const KernelArgs&) {
  return problem.inputs[0].format == Format::NC1HWC0;
}

bool is_other_isa(const Problem&, const KernelArgs&) { return current_isa() == other; }

}  // namespace

TEST(Invariance, AnHonestKernelHasTheSameBits) {
  const InvarianceRow row = check_invariance(find_kernel("relu", "relu"), parse_case_id(kId));
  for (std::size_t i = 0; i < kInvariances; ++i) {
    EXPECT_EQ(row.cells[i].state, honest(static_cast<Invariance>(i)));
  }
  EXPECT_FALSE(row.differs());
}

TEST(Invariance, Repeats) {
  calls = 0;
  expect_only(row_of<is_third>(), Invariance::repeats, "run 3");
}

TEST(Invariance, Threads) {
  expect_only(row_of<has_three_threads>(), Invariance::threads, "3 threads");
}

TEST(Invariance, Batch) { expect_only(row_of<is_alone>(), Invariance::batch, "row 0 alone"); }

TEST(Invariance, Alignment) {
  expect_only(row_of<is_odd>(), Invariance::alignment, "64 bytes behind a page");
}

TEST(Invariance, Neighbours) {
  expect_only(row_of<reads_on>(), Invariance::neighbours, "bytes 0x3c around");
}

TEST(Invariance, Format) { expect_only(row_of<is_5hd>(), Invariance::format, "NC1HWC0"); }

TEST(Invariance, Isa) {
  if (supported_isas().size() < 2) GTEST_SKIP() << "this machine has one instruction set";
  other = supported_isas().back();
  expect_only(row_of<is_other_isa>(), Invariance::isa, other);
}

// Every variant, on a small case in fp32 or its first dtype. Only one of another library may refuse
// all of them: oneDNN's int8 matmul needs instructions that this processor may lack.
TEST(Invariance, OfEveryVariant) {
  int rows = 0;
  for (const Kernel* kernel : RegisteredKernel::all()) {
    const std::optional<Case> c = example_case(*kernel);
    if (!c) {
      EXPECT_EQ(kernel->provider, Provider::vendor) << kernel->key();
      continue;
    }
    const InvarianceRow row = check_invariance(*kernel, *c);
    ++rows;
    for (std::size_t i = 0; i < kInvariances; ++i) {
      const InvarianceCell& cell = row.cells[i];
      EXPECT_NE(cell.state, InvarianceCell::differs)
          << kernel->key() << " on " << row.case_id << ", " << name(static_cast<Invariance>(i))
          << ", " << cell.first.how << ": " << cell.first.place << " is " << cell.first.there
          << ", " << cell.first.here << " before";
    }
  }
  EXPECT_GT(rows, 100);
}

TEST(Invariance, JsonHoldsTheFirstDifference) {
  std::ostringstream out;
  const std::vector<InvarianceRow> rows = {row_of<has_three_threads>()};
  write_invariance_json(out, rows);
  EXPECT_THAT(out.str(), testing::HasSubstr(R"("how": "3 threads")"));
  EXPECT_THAT(out.str(), testing::HasSubstr(R"("place": "result[3,15,5,5]")"));
  EXPECT_THAT(out.str(), testing::HasSubstr(R"("state": "same")"));
}

}  // namespace opbench
