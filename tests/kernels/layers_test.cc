// Every variant of the operators that make the layers of a network against their references, over
// shapes and attributes that the conformance test does not reach; padding lanes hold NaN. Nobody
// edits this file to add a variant.
#include <gmock/gmock.h>

#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

struct Use {
  std::string op;
  std::vector<Dims> shapes;
  AttrTexts attrs = {};

  std::string text() const {
    std::string result = op;
    for (const Dims& shape : shapes) result += ' ' + to_string(shape);
    for (const auto& [name, value] : attrs) result += ' ' + name + '=' + value;
    return result;
  }
};

void PrintTo(const Use& use, std::ostream* out) { *out << use.text(); }

const std::vector<Use>& uses() {
  static const std::vector<Use> all = {
      {"matmul", {{1, 1}, {1, 1}}},
      {"matmul", {{65, 33}, {33, 17}}},
      {"matmul", {{33, 65}, {33, 70}}, {{"transpose_a", "true"}}},
      {"matmul", {{130, 20}, {49, 20}}, {{"transpose_b", "true"}}},
      {"matmul", {{20, 13}, {9, 20}}, {{"transpose_a", "true"}, {"transpose_b", "true"}}},
      {"matmul", {{3, 17, 5}, {3, 5, 16}}},
      {"matmul", {{2, 3, 7, 18}, {2, 3, 18, 80}}},
      {"matmul", {{0, 5}, {5, 3}}},
      {"matmul", {{5, 0}, {0, 3}}},
      {"linear", {{3, 40}, {33, 40}, {33}}},
      {"linear", {{1, 1024}, {10, 1024}}},
      {"linear", {{0, 7}, {5, 7}, {5}}},
      {"bias_grad", {{3, 58, 5, 7}}},
      {"bias_grad", {{1, 32, 1, 1}}},
      {"bias_grad", {{70, 33}}},
  };
  return all;
}

}  // namespace

class Layers : public testing::TestWithParam<Use> {};

TEST_P(Layers, AgreeWithTheReference) {
  const auto& [op_name, shapes, attrs] = GetParam();
  const Op& op = find_op(op_name);
  int held = 0;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      const std::size_t rank = shapes.front().size();
      if (format_for_rank(format, rank) != format) continue;
      if (format == Format::NC1HWC0 && rank != 4) continue;
      const Problem problem = problem_with(op, shapes, attrs, dtype, format);
      for (const Kernel* kernel : kernels_of(op_name)) {
        if (!refusal(*kernel, problem).empty()) continue;
        expect_conforms(*kernel, problem, 1);
        expect_conforms(*kernel, problem, 2);
        ++held;
      }
    }
  }
  EXPECT_GT(held, 0);
}

INSTANTIATE_TEST_SUITE_P(Uses, Layers, testing::ValuesIn(uses()));

}  // namespace opbench
