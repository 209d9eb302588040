// Every differentiable operator's gradients against central differences of its reference. An
// operator that is not listed fails the last test.
#include <gtest/gtest.h>

#include <set>

#include "tests/ops/finite_difference.h"

namespace opbench {
namespace {

Given index(const Dims& shape, const std::vector<double>& values) {
  return {DType::int64, shape, values};
}

const std::vector<Differentiated>& uses() {
  static const std::vector<Differentiated> all = {
      {"add", {spread({2, 3}), spread({2, 3}, 1)}},
      {"mul", {spread({2, 3}), spread({2, 3}, 1)}},
      {"muls", {spread({5})}, {{"value", "1.5"}}},
      {"axpy", {spread({2, 3}), spread({2, 3}, 1)}, {{"alpha", "-0.5"}}},
      {"relu", {spread({7})}},
      {"softplus", {spread({7})}, {{"beta", "2"}}},
      {"mean", {spread({2, 3})}},
      {"sum", {spread({2, 3})}},
      {"reduce_mean", {spread({2, 3, 4})}, {{"axes", "[1]"}}},
      {"concat", {spread({2, 2}), spread({2, 3}, 1)}, {{"axis", "1"}}},
      {"split", {spread({2, 4})}, {{"axis", "1"}}},
      {"channel_shuffle", {spread({1, 4, 2, 1})}},
      {"cat_shuffle", {spread({1, 2, 2, 1}), spread({1, 2, 2, 1}, 1)}},
      {"cat_shuffle_split", {spread({1, 2, 2, 1}), spread({1, 2, 2, 1}, 1)}},
      {"transpose", {spread({2, 3})}},
      {"reshape", {spread({2, 3})}, {{"shape", "[3,2]"}}},
      {"cast", {spread({5})}, {{"to", "fp64"}}},
      {"gather", {spread({4, 2}), index({3}, {2, 0, 2})}},
      {"index_select", {spread({2, 4}), index({3}, {3, 1, 1})}},
      {"index_add", {spread({4, 2}), index({3}, {2, 0, 2}), spread({3, 2}, 1)}},
      {"matmul", {spread({2, 3}), spread({3, 2}, 1)}},
      {"linear", {spread({3, 2}), spread({4, 2}, 1), spread({4}, 2)}},
      {"conv2d", {spread({1, 2, 3, 3}), spread({2, 2, 2, 2}, 1), spread({2}, 2)}},
      {"max_pool2d", {spread({1, 2, 4, 4})}},
      {"global_avg_pool2d", {spread({2, 2, 2, 3})}},
      {"softmax", {spread({2, 4})}},
      {"cross_entropy", {spread({2, 3}), index({2}, {2, 0})}},
      {"batch_norm",
       {spread({3, 2}),
        spread({2}, 1),
        spread({2}, 2),
        spread({2}, 3),
        {DType::fp32, {2}, {1, 2}}}},
  };
  return all;
}

TEST(Gradients, AgreeWithFiniteDifferences) {
  for (const Differentiated& use : uses()) expect_gradients(use);
}

TEST(Gradients, OfEveryOperatorAreHeldAgainstThem) {
  std::set<std::string_view> covered;
  for (const Differentiated& use : uses()) covered.insert(use.op);
  // Changes the storage and no number; its gradient is itself the other way round.
  covered.insert("trans_data");
  for (const Op* op : RegisteredOp::all()) {
    EXPECT_TRUE(op->gradient == nullptr || covered.contains(op->name)) << op->name;
  }
}

}  // namespace
}  // namespace opbench
