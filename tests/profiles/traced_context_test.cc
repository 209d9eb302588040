// Tests neighbourhoods of calls of PyTorch. Traces record them without their results.
#include <gmock/gmock.h>

#include "tests/profiles/context_graphs.h"
#include "tests/profiles/profiles.h"
#include "tests/profiles/traced_calls.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NetworkContext context_in(const std::string& events, const ContextWish& wish) {
  return context_of(ingest_text(trace_of(events)), wish, [] { return false; });
}

std::string unary(const std::string& name, int number, const std::string& dims) {
  return call(name, number, inputs("[" + dims + "]", R"(["float"])", R"([""])"));
}

// 4x5 times 5x6 is 4x6, which opbench's operator computes. The calls are out of order in the file.
TEST(TracedContext, FollowsWhatOperatorsMake) {
  const std::string text =
      unary("aten::exp", 3, "[4,6]") +
      call("aten::mm", 1, inputs("[[4,5],[5,6]]", R"(["float","float"])", R"(["",""])")) +
      unary("aten::relu_", 2, "[4,6]") + unary("aten::tanh", 4, "[7,7]");
  const NetworkContext found = context_in(text, {"relu_", 1});
  EXPECT_THAT(graph(found), ElementsAre("matmul(self_of_matmul, mat2_of_matmul) -> matmul",
                                        "relu(matmul) -> relu", "exp(relu) -> exp"));
  EXPECT_EQ(found.found.edges, 2);
  // The result of matmul also has the shape of exp's input.
  EXPECT_EQ(found.found.ambiguous, 1);
}

TEST(TracedContext, EndsAtTwoGradientsInOneCall) {
  const std::string backward =
      call("aten::convolution_backward", 1,
           inputs("[[2,4,8,8],[2,3,8,8],[4,3,1,1],[],[],[],[],[],[],[],[]]",
                  R"(["float","float","float","","","","","","","",""])", ""));
  try {
    context_in(backward, {"convolution_backward", 1});
    FAIL();
  } catch (const NoContext& none) {
    EXPECT_THAT(none.what(), HasSubstr("computes two gradients in one call"));
  }
}

// The standard deviation has the length of a bias gradient, but must not be linked to it.
TEST(TracedContext, StatisticsOfANormAreNoGradients) {
  const auto norm = [](int number) {
    return call(
        "aten::native_batch_norm_backward", number,
        inputs("[[2,3,4,4],[2,3,4,4],[3],[3],[3],[3],[3],[],[],[]]",
               R"(["float","float","float","float","float","float","float","","",""])", ""));
  };
  const NetworkContext found =
      context_in(norm(1) + unary("aten::relu_", 2, "[2,3,4,4]") + norm(3), {"relu_", 1});
  const std::vector<std::string> nodes = graph(found);
  ASSERT_EQ(nodes.size(), 3);
  EXPECT_THAT(nodes[2],
              HasSubstr("save_mean_of_batch_norm_grad.2, save_invstd_of_batch_norm_grad.2"));
}

}  // namespace
}  // namespace opbench
