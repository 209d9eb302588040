// Tests how repeated inputs of element-wise kernels are passed on: as stored, as a single element,
// or expanded. Sizes are around a long run (256), a piece (1024) and vectors. Some outputs are
// streamed to rows that begin inside a vector.
#include <gtest/gtest.h>

#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

std::vector<std::vector<Dims>> broadcast_shapes() {
  std::vector<std::vector<Dims>> all;
  for (const std::int64_t run : {1, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025}) {
    all.push_back({{5, run}, {run}});
    all.push_back({{5, run}, {5, 1}});
    all.push_back({{5, 1}, {5, run}});
    all.push_back({{5, 1}, {run}});
    all.push_back({{2, 3, run}, {3, 1}});
    all.push_back({{2, 3, run}, {2, 1, run}});
    all.push_back({{2, 3, run}, {2, 1, 1}});
  }
  // These exceed a core's cache, with rows of 5003 elements.
  all.push_back({{400, 5003}, {5003}});
  all.push_back({{400, 5003}, {400, 1}});
  all.push_back({{400, 1}, {400, 5003}});
  return all;
}

}  // namespace

class BroadcastParts : public testing::TestWithParam<DType> {};

TEST_P(BroadcastParts, AgreeWithTheReference) {
  int held = 0;
  for (const char* op : {"add", "mul", "axpy"}) {
    for (const std::vector<Dims>& inputs : broadcast_shapes()) {
      const AttrTexts attrs = op == std::string("axpy") ? AttrTexts{{"alpha", "0.5"}} : AttrTexts{};
      const Problem problem = problem_with(find_op(op), inputs, attrs, GetParam(), Format::ND);
      for (const Kernel* kernel : kernels_of(op)) {
        if (kernel->provider != Provider::vendor) held += expect_conforms(*kernel, problem, 2);
      }
    }
  }
  EXPECT_GT(held, 200);
}

INSTANTIATE_TEST_SUITE_P(DTypes, BroadcastParts, testing::Values(DType::fp32, DType::fp16));

}  // namespace opbench
