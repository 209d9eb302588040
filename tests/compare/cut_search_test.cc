// Tests searches over a record with its own fault: softplus of 16 elements, some of them wrong.
#include "compare/cut_search.h"

#include <gmock/gmock.h>

#include <optional>
#include <set>

#include "tests/compare/planted_fault.h"

namespace opbench {
namespace {

using testing::ElementsAre;

class CutSearch : public testing::Test, protected PlantedFault {
 protected:
  /// A record of the case. Its output is 8 too large at these places.
  std::optional<GuiltyCall> wrong_at(const std::string& case_text,
                                     const std::vector<std::size_t>& elements) {
    return guilty(case_text, [elements](Values& output, const Dims&) {
      for (const std::size_t element : elements) output[element] += 8;
    });
  }

  /// Keeps places of the only axis of input and output, and records the requested places.
  Scheme by_axis(std::size_t axis = 0) {
    return [this, axis](const Witness& of, const Places& kept) {
      asked.push_back(kept);
      Proposal proposal = Proposal::all_of(of);
      for (TensorCut& input : proposal.inputs) input.keep(axis, kept);
      proposal.output.keep(axis, kept);
      return proposal;
    };
  }

  std::vector<Places> asked;
};

}  // namespace

// The place alone is the first trial.
TEST_F(CutSearch, TriesThePlaceAlone) {
  std::optional<GuiltyCall> found = wrong_at("softplus[16,fp32,ND]", {5});
  ASSERT_TRUE(found);
  Cutting cutting(found->witness, {}, [] { return false; });
  search_places(cutting, 16, 5, 1000, by_axis());
  EXPECT_EQ(found->witness.recorded().desc.shape, (Dims{1}));
  EXPECT_EQ(cutting.trials(), 1);
  EXPECT_THAT(asked, ElementsAre(Places{5}));
}

// Place 5 alone is correct, so halves are tried. 0-7 is correct, 8-15 has the fault at 13, and its
// halves follow.
TEST_F(CutSearch, HalvesUntilOnePlaceIsLeft) {
  std::optional<GuiltyCall> found = wrong_at("softplus[16,fp32,ND]", {13});
  ASSERT_TRUE(found);
  Cutting cutting(found->witness, {}, [] { return false; });
  search_places(cutting, 16, 5, 1000, by_axis());
  EXPECT_EQ(found->witness.recorded().desc.shape, (Dims{1}));
  ASSERT_GE(asked.size(), 3U);
  EXPECT_EQ(asked[0], (Places{5}));
  EXPECT_EQ(asked[1], places_from(0, 8));
  EXPECT_EQ(asked[2], places_from(8, 8));
}

// If the trials are used up, the best cut so far stays.
TEST_F(CutSearch, EndsAfterItsTrials) {
  std::optional<GuiltyCall> found = wrong_at("softplus[16,fp32,ND]", {13});
  ASSERT_TRUE(found);
  Cutting cutting(found->witness, {}, [] { return false; });
  search_places(cutting, 16, 5, 0, by_axis());
  EXPECT_EQ(found->witness.recorded().desc.shape, (Dims{16}));
  EXPECT_EQ(asked.size(), 1U) << "the place alone";
}

TEST_F(CutSearch, StopsWhereItIsToldTo) {
  std::optional<GuiltyCall> found = wrong_at("softplus[16,fp32,ND]", {13});
  ASSERT_TRUE(found);
  Cutting cutting(found->witness, {}, [] { return true; });
  search_places(cutting, 16, 13, 1000, by_axis());
  EXPECT_EQ(found->witness.recorded().desc.shape, (Dims{16}));
  EXPECT_EQ(cutting.trials(), 0);
}

// The number of trials is 2^23 elements over those of the witness, from 8 to 256.
TEST_F(CutSearch, TriesFewerPartsOfLargerWitnesses) {
  std::optional<GuiltyCall> found = wrong_at("softplus[16,fp32,ND]", {5});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->witness.elements(), 32);
  EXPECT_EQ(trials_worth(found->witness), 256);
  std::optional<GuiltyCall> large = wrong_at("softplus[262144,fp32,ND]", {5});
  ASSERT_TRUE(large);
  EXPECT_EQ(trials_worth(large->witness), 16);  // 2^23 / 2^19
}

// A matrix product of 4x6 and 6x6. Axis 1 of the output has an extent of 6. The right matrix has
// this axis in the same place. Both inputs have further axes of extent 6.
TEST_F(CutSearch, GroupsAxesOfOneExtent) {
  std::optional<GuiltyCall> found = wrong_at("matmul[4x6,6x6,fp32,ND]", {5});
  ASSERT_TRUE(found);
  std::vector<std::vector<std::optional<std::size_t>>> groups;
  for_each_group(found->witness, 1, 6, [&](const CutAxes& group) {
    EXPECT_EQ(group.extent, 6);
    EXPECT_EQ(group.output, std::optional<std::size_t>(1));
    EXPECT_FALSE(group.renumbers) << "there is no index";
    groups.push_back(group.inputs);
    return false;
  });
  using Axes = std::vector<std::optional<std::size_t>>;
  ASSERT_FALSE(groups.empty());
  EXPECT_EQ(groups[0], (Axes{1, 1})) << "the axes in the output's place first";
  EXPECT_THAT(groups, testing::Contains(Axes{std::nullopt, 1}));
  EXPECT_THAT(groups, testing::Not(testing::Contains(Axes{std::nullopt, std::nullopt})));
  EXPECT_EQ(std::set(groups.begin(), groups.end()).size(), groups.size());
  int visits = 0;
  for_each_group(found->witness, 1, 6, [&](const CutAxes&) { return ++visits == 2; });
  EXPECT_EQ(visits, 2) << "until one says that it is enough";
}

// Extents in attributes follow the output. An extent of -1 stands for the remaining elements.
TEST_F(CutSearch, AttributesFollowTheExtentsOfTheOutput) {
  std::optional<GuiltyCall> found = wrong_at("reshape[4x6,fp32,ND,shape=[6,4]]", {5});
  ASSERT_TRUE(found);
  Attrs attrs = found->witness.problem().attrs;
  ASSERT_TRUE(follow_lists(found->witness, {2, 4}, attrs));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(attrs.values().at("shape")),
            (std::vector<std::int64_t>{2, 4}));
  std::optional<GuiltyCall> other = wrong_at("softplus[16,fp32,ND]", {5});
  ASSERT_TRUE(other);
  Attrs none = other->witness.problem().attrs;
  EXPECT_FALSE(follow_lists(other->witness, {2}, none));
}

TEST_F(CutSearch, KnowsAnIndex) {
  places = 4;
  std::optional<GuiltyCall> found = wrong_at("index_select[4x6,3,fp32,ND,axis=0]", {5});
  ASSERT_TRUE(found);
  EXPECT_FALSE(is_index(found->witness, 0));
  EXPECT_TRUE(is_index(found->witness, 1));
}

}  // namespace opbench
