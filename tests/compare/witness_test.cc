#include "compare/witness.h"

#include <gmock/gmock.h>

#include <optional>

#include "compare/witness_origin.h"
#include "tests/compare/planted_fault.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WitnessTest : public testing::Test, protected PlantedFault {
 protected:
  /// softplus of 4x6. The output is 8 too large at element 13: row 2, column 1.
  void SetUp() override {
    found = guilty("softplus[4x6,fp32,ND]", [](Values& output, const Dims&) { output[13] += 8; });
    ASSERT_TRUE(found);
  }
  Cutting cutting() {
    return Cutting(found->witness, {}, [this] { return is_stopped; });
  }
  Proposal rows(const Places& kept) const {
    Proposal proposal = Proposal::all_of(found->witness);
    proposal.inputs[0].keep(0, kept);
    proposal.output.keep(0, kept);
    return proposal;
  }

  std::optional<GuiltyCall> found;
  bool is_stopped = false;
};

}  // namespace

TEST_F(WitnessTest, HasTheWholeCall) {
  EXPECT_EQ(found->witness.elements(), 48);
  EXPECT_EQ(found->origin.elements, 48);
  EXPECT_EQ(found->witness.expected.desc.dtype, DType::fp64) << "not rounded";
  const Proposal all = Proposal::all_of(found->witness);
  EXPECT_THAT(all.sources, ElementsAre(0U));
  EXPECT_EQ(all.output.shape, (Dims{4, 6}));
}

// Row 2 has the wrong element, row 1 has no wrong element.
TEST_F(WitnessTest, TakesAPartThatIsStillWrong) {
  Cutting one = cutting();
  EXPECT_FALSE(one.take(rows({1})));
  EXPECT_EQ(found->witness.elements(), 48);
  EXPECT_TRUE(one.take(rows({1, 2})));
  EXPECT_EQ(found->witness.elements(), 24);
  EXPECT_EQ(found->witness.recorded().desc.shape, (Dims{2, 6}));
  EXPECT_TRUE(found->witness.finding.is_wrong);
  EXPECT_TRUE(one.take(rows({1})));
  EXPECT_EQ(found->witness.elements(), 12);
}

// The whole is not smaller, so it is not tried.
TEST_F(WitnessTest, TakesNoPartThatIsNotSmaller) {
  Cutting one = cutting();
  EXPECT_FALSE(one.take(Proposal::all_of(found->witness)));
  EXPECT_EQ(one.trials(), 0);
}

// Rows 0 and 1 of the input do not produce rows 2 and 3 of the output.
TEST_F(WitnessTest, TakesNoPartWhoseReferenceIsAnother) {
  Cutting one = cutting();
  Proposal shifted = rows({2, 3});
  EXPECT_TRUE(one.is_consistent(shifted));
  shifted.inputs[0].keep(0, {0, 1});
  EXPECT_FALSE(one.is_consistent(shifted));
  EXPECT_FALSE(one.take(shifted));
  EXPECT_EQ(one.trials(), 3);
}

// The operator refuses an output of 2x6 for an input of 3x6.
TEST_F(WitnessTest, TakesNoPartThatTheOperatorRefuses) {
  Cutting one = cutting();
  Proposal uneven = rows({2, 3});
  uneven.inputs[0].keep(0, {1, 2, 3});
  EXPECT_FALSE(one.is_consistent(uneven));
}

TEST_F(WitnessTest, IsLeftAsItIsOnceItIsStopped) {
  is_stopped = true;
  Cutting one = cutting();
  EXPECT_FALSE(one.is_consistent(rows({2})));
  EXPECT_FALSE(one.take(rows({2})));
  EXPECT_EQ(found->witness.elements(), 48);
}

TEST_F(WitnessTest, SaysWhereItComesFrom) {
  Cutting one = cutting();
  ASSERT_TRUE(one.take(rows({2})));
  const std::string text = headline(found->origin, found->witness);
  EXPECT_THAT(text, HasSubstr(" as softplus, fp32, of "));
  EXPECT_THAT(text, testing::EndsWith("NPU: cut from 48 to 12 elements"));
  EXPECT_THAT(bound_text(found->witness), testing::StartsWith("|actual - expected| <= "));
}

}  // namespace opbench
