#include "harness/run/batch_rows.h"

#include <gmock/gmock.h>

#include "tests/harness/run/float_elements.h"

namespace opbench {
namespace {

using testing::ElementsAre;

/// The rows of the case, with inputs without a pattern.
std::optional<BatchRows> rows_of(const std::string& case_text) {
  const Case c = parse_case_id(case_text);
  const Problem problem = problem_of(c);
  return find_batch_rows(problem, elements_of(c, problem, 7, std::nullopt));
}

/// Shapes of the inputs of one row; empty: the outputs have no rows.
std::vector<std::string> row_shapes(const std::string& case_text) {
  std::vector<std::string> shapes;
  const std::optional<BatchRows> rows = rows_of(case_text);
  if (!rows) return shapes;
  for (const TensorDesc& input : rows->problem_of_row().inputs) {
    shapes.push_back(to_string(input.shape));
  }
  return shapes;
}

}  // namespace

TEST(BatchRows, CutWhatHasAsManyRowsAsTheResult) {
  EXPECT_THAT(row_shapes("relu[4x3,fp32,ND]"), ElementsAre("1x3"));
  EXPECT_THAT(row_shapes("add[4x3,4x1,fp32,ND]"), ElementsAre("1x3", "1x1"));
  EXPECT_THAT(row_shapes("add[4x3,3,fp32,ND]"), ElementsAre("1x3", "3"));
  EXPECT_THAT(row_shapes("matmul[4x3,3x5,fp32,ND]"), ElementsAre("1x3", "3x5"));
  EXPECT_THAT(row_shapes("softmax[4x3,fp32,ND,dim=1]"), ElementsAre("1x3"));
}

// The right matrix has 4 rows as well, and each result depends on all of them.
TEST(BatchRows, LeaveASquareMatrixOnTheRightWhole) {
  EXPECT_THAT(row_shapes("matmul[4x4,4x4,fp32,ND]"), ElementsAre("1x4", "4x4"));
}

TEST(BatchRows, AreNoneWhereARowDependsOnOthers) {
  EXPECT_FALSE(rows_of("softmax[4x3,fp32,ND,dim=0]"));
  EXPECT_FALSE(rows_of("cumsum[4x3,fp32,ND,dim=0]"));
  EXPECT_THAT(row_shapes("cumsum[4x3,fp32,ND,dim=1]"), ElementsAre("1x3"));
  EXPECT_FALSE(rows_of("index_select[4x3,4,fp32,ND,axis=0]")) << "an index may mean another row";
}

TEST(BatchRows, AreNoneOfOneRowOrAScalar) {
  EXPECT_FALSE(rows_of("relu[1x3,fp32,ND]"));
  EXPECT_FALSE(rows_of("sum[4x3,fp32,ND]"));
}

// The first two rows, the middle row and the last, without duplicates.
TEST(BatchRows, SomeAreTriedOfMany) {
  EXPECT_THAT(rows_of("relu[10x3,fp32,ND]")->some(), ElementsAre(0, 1, 5, 9));
  EXPECT_THAT(rows_of("relu[3x3,fp32,ND]")->some(), ElementsAre(0, 1, 2));
  EXPECT_THAT(rows_of("relu[2x3,fp32,ND]")->some(), ElementsAre(0, 1));
}

// Row 2 of 0, 1, ... 11 in rows of 3 is 6, 7, 8. An input that is not cut stays whole.
TEST(BatchRows, TakeARowOutAndPutItBack) {
  const std::optional<BatchRows> rows = rows_of("add[4x3,3,fp32,ND]");
  ASSERT_TRUE(rows);
  const InputElements all = {stored({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), stored({20, 21, 22})};
  const InputElements alone = rows->inputs_of(2, all);
  EXPECT_THAT(numbers(alone[0]), ElementsAre(6, 7, 8));
  EXPECT_THAT(numbers(alone[1]), ElementsAre(20, 21, 22));
  std::vector<Elements> results = {stored(std::vector<float>(12, -1))};
  rows->put(2, {stored({1, 2, 3})}, results);
  EXPECT_THAT(numbers(results[0]), ElementsAre(-1, -1, -1, -1, -1, -1, 1, 2, 3, -1, -1, -1));
}

}  // namespace opbench
