// Tests the notes of kernels about their times, in the output that shows them.
#include <gmock/gmock.h>

#include "kernels/kernel.h"
#include "tensor/processor.h"
#include "tests/evaluate.h"
#include "tests/support/peers.h"
#include "tests/support/program.h"
#include "tests/support/wide_terminal.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string note_of(std::string_view op, std::vector<Dims> shapes, DType dtype) {
  return note(*peer_of(op), problem_with(find_op(op), std::move(shapes), {}, dtype));
}

// On Arm without SVE of 512 bits oneDNN 2.6 has no fast code for relu and softmax.
bool has_fast_code() { return current_isa() != "neon"; }

}  // namespace

TEST(Notes, ReferenceImplementationsAreNoYardstick) {  // DNNL_VERBOSE: sum,simple:any
  if (peer_of("axpy") == nullptr) GTEST_SKIP() << "built without oneDNN";
  EXPECT_THAT(note_of("axpy", {{8, 20}, {8, 20}}, DType::fp32), HasSubstr("not tuned for speed"));
  EXPECT_EQ(note_of("axpy", {{8, 20}, {8, 20}}, DType::fp16), "") << "refused";
  EXPECT_EQ(note_of("relu", {{8, 20}}, DType::fp32).empty(), has_fast_code());
}

// DNNL_VERBOSE: softmax_v2,ref:any if the axis is not the last axis.
TEST(Notes, OneOperatorHasFastCodeAndPlainCode) {
  if (peer_of("softmax_grad") == nullptr) GTEST_SKIP() << "built without oneDNN";
  const auto along = [](const char* op, const char* dim, std::vector<Dims> shapes) {
    return note(*peer_of(op),
                problem_with(find_op(op), std::move(shapes), {{"dim", dim}}, DType::fp32));
  };
  const std::vector<Dims> two = {{8, 64, 56}, {8, 64, 56}};
  EXPECT_THAT(along("softmax_grad", "1", two), HasSubstr("reference implementation (ref:any)"));
  EXPECT_THAT(along("log_softmax_grad", "1", two), HasSubstr("(ref:any)"));
  EXPECT_EQ(along("softmax", "2", {{8, 64, 64}}).empty(), has_fast_code());
}

TEST(Notes, StandInTheListAndInResults) {
  if (peer_of("axpy") == nullptr) GTEST_SKIP() << "built without oneDNN";
  const WideTerminal wide;
  const Outcome list = opbench_with({"list", "axpy"});
  EXPECT_THAT(list.out,
              HasSubstr("oneDNN's reference implementation (simple:any), not tuned for speed"));
  const std::vector<std::string> run = {"--case", "axpy[8x20,8x20,fp32,ND]", "--time",
                                        "0.001",  "--repetitions",           "1"};
  EXPECT_THAT(opbench_with(run).out, HasSubstr("passed: oneDNN's reference implementation"));
  if (!has_fast_code()) return;
  EXPECT_THAT(opbench_with({"list", "relu"}).out, Not(HasSubstr("not tuned for speed")));
}

}  // namespace opbench
