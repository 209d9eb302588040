// Tests the casts of mixed precision. Source of the levels: NVIDIA Apex, opt_level O0 to O2.
#include "harness/plan/precision.h"

#include <gmock/gmock.h>

#include "ops/op.h"

namespace opbench {
namespace {

using testing::ElementsAre;

class CastInsertionTest : public testing::Test {
 protected:
  std::size_t tensor(const std::string& name, DType dtype) {
    return add_tensor(graph_, name, describe(dtype, {4, 4}), GraphTensor::input);
  }
  /// The dtypes that an operator gets for its inputs.
  std::vector<std::string> given(Precision::Level level, std::string_view op,
                                 std::vector<std::size_t> inputs) {
    casts_.apply(Precision{.level = level, .keep_fp32 = {"relu"}}, find_op(op), inputs);
    std::vector<std::string> dtypes;
    for (const std::size_t input : inputs) {
      dtypes.emplace_back(name(graph_.tensors[input].desc.dtype));
    }
    return dtypes;
  }

  Graph graph_;
  CastInsertion casts_{graph_};
  const std::size_t wide_ = tensor("x", DType::fp32), narrow_ = tensor("w", DType::fp16);
};

}  // namespace

TEST_F(CastInsertionTest, LevelO0LeavesAllAsWritten) {
  EXPECT_THAT(given(Precision::Level::O0, "matmul", {wide_, narrow_}), ElementsAre("fp32", "fp16"));
  EXPECT_TRUE(graph_.nodes.empty());
}

TEST_F(CastInsertionTest, LevelO1CastsByTheOperator) {
  const auto level = Precision::Level::O1;
  EXPECT_THAT(given(level, "matmul", {wide_, narrow_}), ElementsAre("fp16", "fp16"));
  EXPECT_THAT(given(level, "softmax", {narrow_}), ElementsAre("fp32"));
  EXPECT_THAT(given(level, "mul", {wide_, narrow_}), ElementsAre("fp32", "fp32")) << "the widest";
  EXPECT_THAT(given(level, "sigmoid", {narrow_}), ElementsAre("fp16"));
}

TEST_F(CastInsertionTest, ListedOperatorsStayInFp32) {
  EXPECT_THAT(given(Precision::Level::O1, "relu", {narrow_}), ElementsAre("fp32"));
  EXPECT_THAT(given(Precision::Level::O2, "relu", {narrow_}), ElementsAre("fp32"));
  EXPECT_THAT(given(Precision::Level::O0, "relu", {narrow_}), ElementsAre("fp16"));
}

TEST_F(CastInsertionTest, LevelO2CastsAllToFp16) {
  EXPECT_THAT(given(Precision::Level::O2, "mul", {wide_, narrow_}), ElementsAre("fp16", "fp16"));
}

TEST_F(CastInsertionTest, AnIndexStaysAnIndex) {
  const std::size_t index =
      add_tensor(graph_, "i", describe(DType::int32, {2}), GraphTensor::input);
  EXPECT_THAT(given(Precision::Level::O2, "index_select", {wide_, index}),
              ElementsAre("fp16", "int32"));
}

TEST_F(CastInsertionTest, ATensorIsCastOnceToEachDtype) {
  const std::size_t first = casts_.to(wide_, DType::fp16);
  EXPECT_EQ(casts_.to(wide_, DType::fp16), first);
  EXPECT_EQ(casts_.to(wide_, DType::fp32), wide_) << "it is that already";
  EXPECT_NE(casts_.to(wide_, DType::bf16), first);
  ASSERT_EQ(graph_.nodes.size(), 2u);
  EXPECT_EQ(graph_.nodes[0].name, "x.fp16");
  EXPECT_EQ(graph_.nodes[0].cause, "precision: fp16 required");
  EXPECT_EQ(graph_.tensors[first].name, "x.fp16");
}

}  // namespace opbench
