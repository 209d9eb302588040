// Tests each kind of cut alone, on records with one wrong element. The remaining elements are
// counted by hand.
#include "compare/axis_cuts.h"

#include <gmock/gmock.h>

#include <optional>

#include "tests/compare/planted_fault.h"

namespace opbench {
namespace {

using testing::ElementsAre;

class AxisCuts : public testing::Test, protected PlantedFault {
 protected:
  /// The shapes of inputs and output after one kind of cut. The record's output is 8 too large at
  /// `place`.
  template <class Cut>
  std::vector<std::string> shapes_after(Cut cut, const std::string& case_text, std::size_t place) {
    std::optional<GuiltyCall> found =
        guilty(case_text, [place](Values& output, const Dims&) { output[place] += 8; });
    if (!found) return {"right"};
    Cutting cutting(found->witness, {}, [] { return false; });
    cut(cutting);
    std::vector<std::string> shapes;
    for (const TensorDesc& input : found->witness.problem().inputs) {
      shapes.push_back(to_string(input.shape));
    }
    shapes.push_back(to_string(found->witness.recorded().desc.shape));
    attrs = found->witness.problem().attrs;
    return shapes;
  }
  std::vector<std::int64_t> list(const std::string& name) const {
    return std::get<std::vector<std::int64_t>>(attrs.values().at(name));
  }

  Attrs attrs;  ///< of the last witness
};

}  // namespace

// Inputs and output are cut to one place.
TEST_F(AxisCuts, ByElementsKeepOnePlaceOfAll) {
  EXPECT_THAT(shapes_after(cut_elements, "softplus[4x6,fp32,ND]", 13), ElementsAre("1x1", "1x1"));
  EXPECT_THAT(shapes_after(cut_elements, "add[4x6,4x6,fp32,ND]", 13),
              ElementsAre("1x1", "1x1", "1x1"));
}

// A broadcast row has fewer elements than the output, so it is not cut.
TEST_F(AxisCuts, ByElementsLeaveOtherShapesAlone) {
  EXPECT_THAT(shapes_after(cut_elements, "add[4x6,6,fp32,ND]", 13), ElementsAre("4x6", "6", "4x6"));
  EXPECT_THAT(shapes_after(cut_elements, "matmul[4x5,5x6,fp32,ND]", 13),
              ElementsAre("4x5", "5x6", "4x6"));
}

// One row and one column of a product remain, with all their terms.
TEST_F(AxisCuts, OfTheOutputTakeAxesOfInputsAlong) {
  EXPECT_THAT(shapes_after(cut_output_axes, "matmul[4x5,5x6,fp32,ND]", 13),
              ElementsAre("1x5", "5x1", "1x1"));
  EXPECT_THAT(shapes_after(cut_output_axes, "add[4x6,6,fp32,ND]", 13),
              ElementsAre("1x1", "1", "1x1"));
  EXPECT_THAT(shapes_after(cut_output_axes, "softmax[4x6,fp32,ND,dim=1]", 13),
              ElementsAre("1x6", "1x6"))
      << "a row of softmax depends on all of it";
}

// Rows that no index names are not needed. Three indices name at most 3 of 9 rows.
TEST_F(AxisCuts, ThatAreHiddenLoseRowsThatNoIndexNames) {
  places = 9;
  const std::vector<std::string> shapes =
      shapes_after(cut_hidden_axes, "index_select[9x5,3,fp32,ND,axis=0]", 7);
  // The indices 3, 10 % 9 = 1 and 17 % 9 = 8 name three rows.
  EXPECT_THAT(shapes, ElementsAre("3x5", "3", "3x5"));
}

// Every term of a product is needed, because fewer terms give another sum.
TEST_F(AxisCuts, ThatAreHiddenKeepWhatIsSummedUp) {
  EXPECT_THAT(shapes_after(cut_hidden_axes, "matmul[4x5,5x6,fp32,ND]", 13),
              ElementsAre("4x5", "5x6", "4x6"));
}

// A plane of 8x8 has windows of 3x3, a stride of 2 and a padding of 1. Place 5 of 4x4 is row 1 and
// column 1. Its window is inside the plane.
TEST_F(AxisCuts, OfWindowsKeepOneWindow) {
  EXPECT_THAT(
      shapes_after(cut_windows, "conv2d[1x1x8x8,1x1x3x3,fp32,NCHW,stride=[2,2],padding=[1,1]]", 5),
      ElementsAre("1x1x3x3", "1x1x3x3", "1x1x1x1"));
  EXPECT_THAT(list("stride"), ElementsAre(1, 1));
  EXPECT_THAT(list("padding"), ElementsAre(0, 0));
}

// The first row and column of the first window are padding. 2x2 of the 3x3 remain.
TEST_F(AxisCuts, OfWindowsAtAnEdgeLeaveThePaddingOut) {
  EXPECT_THAT(
      shapes_after(cut_windows, "conv2d[1x1x8x8,1x1x3x3,fp32,NCHW,stride=[2,2],padding=[1,1]]", 0),
      ElementsAre("1x1x2x2", "1x1x2x2", "1x1x1x1"));
}

TEST_F(AxisCuts, OfWindowsLeaveOtherOperatorsAlone) {
  EXPECT_THAT(shapes_after(cut_windows, "softplus[1x1x8x8,fp32,NCHW]", 5),
              ElementsAre("1x1x8x8", "1x1x8x8"));
}

}  // namespace opbench
