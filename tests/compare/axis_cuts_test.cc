// Each kind of cut alone, on records with one wrong element: what is left, counted by hand.
#include "compare/axis_cuts.h"

#include <gmock/gmock.h>

#include <optional>

#include "tests/compare/planted_fault.h"

namespace opbench {
namespace {

using testing::ElementsAre;

class AxisCuts : public testing::Test, protected PlantedFault {
 protected:
  /// The shapes of inputs and output after one kind of cut, of a record that is 8 off at `place`.
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

  Attrs attrs;  ///< of what was left last
};

}  // namespace

// Input and output at one place; a scalar stays.
TEST_F(AxisCuts, ByElementsKeepOnePlaceOfAll) {
  EXPECT_THAT(shapes_after(cut_elements, "softplus[4x6,fp32,ND]", 13), ElementsAre("1x1", "1x1"));
  EXPECT_THAT(shapes_after(cut_elements, "add[4x6,4x6,fp32,ND]", 13),
              ElementsAre("1x1", "1x1", "1x1"));
}

// A row that is broadcast has fewer elements than the output.
TEST_F(AxisCuts, ByElementsLeaveOtherShapesAlone) {
  EXPECT_THAT(shapes_after(cut_elements, "add[4x6,6,fp32,ND]", 13), ElementsAre("4x6", "6", "4x6"));
  EXPECT_THAT(shapes_after(cut_elements, "matmul[4x5,5x6,fp32,ND]", 13),
              ElementsAre("4x5", "5x6", "4x6"));
}

// One row and one column of a product, with all their terms.
TEST_F(AxisCuts, OfTheOutputTakeAxesOfInputsAlong) {
  EXPECT_THAT(shapes_after(cut_output_axes, "matmul[4x5,5x6,fp32,ND]", 13),
              ElementsAre("1x5", "5x1", "1x1"));
  EXPECT_THAT(shapes_after(cut_output_axes, "add[4x6,6,fp32,ND]", 13),
              ElementsAre("1x1", "1", "1x1"));
  EXPECT_THAT(shapes_after(cut_output_axes, "softmax[4x6,fp32,ND,dim=1]", 13),
              ElementsAre("1x6", "1x6"))
      << "a row of softmax depends on all of it";
}

// Rows that no index names are not needed: of 9, three numbers name at most 3.
TEST_F(AxisCuts, ThatAreHiddenLoseRowsThatNoIndexNames) {
  places = 9;
  const std::vector<std::string> shapes =
      shapes_after(cut_hidden_axes, "index_select[9x5,3,fp32,ND,axis=0]", 7);
  // Numbers 3, 10 % 9 = 1 and 17 % 9 = 8 are three places.
  EXPECT_THAT(shapes, ElementsAre("3x5", "3", "3x5"));
}

// Terms of a product that are left out make other sums: none can go.
TEST_F(AxisCuts, ThatAreHiddenKeepWhatIsSummedUp) {
  EXPECT_THAT(shapes_after(cut_hidden_axes, "matmul[4x5,5x6,fp32,ND]", 13),
              ElementsAre("4x5", "5x6", "4x6"));
}

// One window of 3x3 of a plane of 8x8, with a stride of 2 and a padding of 1: place 5 of 4x4 is
// row 1 and column 1, whose window is inside.
TEST_F(AxisCuts, OfWindowsKeepOneWindow) {
  EXPECT_THAT(
      shapes_after(cut_windows, "conv2d[1x1x8x8,1x1x3x3,fp32,NCHW,stride=[2,2],padding=[1,1]]", 5),
      ElementsAre("1x1x3x3", "1x1x3x3", "1x1x1x1"));
  EXPECT_THAT(list("stride"), ElementsAre(1, 1));
  EXPECT_THAT(list("padding"), ElementsAre(0, 0));
}

// The first window lies in the padding with its first row and column: 2x2 of the 3x3 are left.
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
