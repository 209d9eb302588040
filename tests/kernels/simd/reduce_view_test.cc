#include "kernels/simd/reduce_view.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

/// The sum of 0, 1, 2, ... over the reduced axes, along the view's rows.
std::vector<std::int64_t> sums(const Dims& shape, const std::vector<bool>& is_reduced) {
  const ReduceView view(shape, is_reduced);
  const std::int64_t columns = view.row_is_reduced ? 1 : view.width;
  std::vector<std::int64_t> result(static_cast<std::size_t>(view.kept_rows * columns));
  for (std::int64_t kept = 0; kept < view.kept_rows; ++kept) {
    for (std::int64_t reduced = 0; reduced < view.reduced_rows; ++reduced) {
      const std::int64_t first =
          ReduceView::offset(view.kept, kept) + ReduceView::offset(view.reduced, reduced);
      for (std::int64_t i = 0; i < view.width; ++i) {
        result[static_cast<std::size_t>(kept * columns + (view.row_is_reduced ? 0 : i))] +=
            first + i;
      }
    }
  }
  return result;
}

using Sums = std::vector<std::int64_t>;

}  // namespace

// The input is [[0 1 2] [3 4 5]].
TEST(ReduceView, HandComputedSums) {
  EXPECT_EQ(sums({2, 3}, {false, true}), (Sums{3, 12}));
  EXPECT_EQ(sums({2, 3}, {true, false}), (Sums{3, 5, 7}));
  EXPECT_EQ(sums({2, 3}, {true, true}), (Sums{15}));
  EXPECT_EQ(sums({2, 3}, {false, false}), (Sums{0, 1, 2, 3, 4, 5}));
  // The input is [[[0 1] [2 3]] [[4 5] [6 7]]].
  EXPECT_EQ(sums({2, 2, 2}, {false, true, false}), (Sums{2, 4, 10, 12}));
  EXPECT_EQ(sums({2, 2, 2}, {true, false, true}), (Sums{10, 18}));
}

TEST(ReduceView, NeighbouringAxesOfOneKindAreOne) {
  const ReduceView view({2, 3, 4, 5}, {false, false, true, true});
  EXPECT_EQ(view.width, 20);
  EXPECT_TRUE(view.row_is_reduced);
  EXPECT_EQ(view.kept_rows, 6);
  ASSERT_EQ(view.kept.size(), 1u);
  EXPECT_EQ(view.kept[0].stride, 20);
  EXPECT_TRUE(view.reduced.empty());
}

TEST(ReduceView, AxesOfOneElementDoNotSeparate) {
  const ReduceView view({2, 1, 3}, {true, false, true});
  EXPECT_EQ(view.width, 6);
  EXPECT_EQ(view.kept_rows, 1);
  EXPECT_EQ(sums({2, 1, 3}, {true, false, true}), (Sums{15}));
}

TEST(ReduceView, AScalarIsOneRow) { EXPECT_EQ(sums({}, {}), (Sums{0})); }

}  // namespace opbench
