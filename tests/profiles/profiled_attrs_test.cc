#include <gmock/gmock.h>

#include "profiles/profiled_case.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Spellings of real logs. CANN's attributes have four extents, those of frameworks have two.
TEST(ProfiledAttrs, AreNumbersAsFrameworksHaveThem) {
  EXPECT_THAT(attrs_of_log("Conv2D",
                           "{data_format = NCHW, dilations = [1, 1, 1, 1], groups = 2, pads = "
                           "[1, 1, 3, 3], strides = [1, 1, 2, 3]}"),
              ElementsAre(Pair("dilations", ElementsAre(1, 1)), Pair("groups", ElementsAre(2)),
                          Pair("pads", ElementsAre(1, 3)), Pair("strides", ElementsAre(2, 3))));
  EXPECT_THAT(attrs_of_log("MaxPoolWithArgmaxV1",
                           "{ksize = [1, 3, 3, 1], pads = [1, 0, 1, 1], strides = [1, 2, 2, 1]}"),
              ElementsAre(Pair("ksize", ElementsAre(3, 3)), Pair("pads", ElementsAre(0, 1)),
                          Pair("strides", ElementsAre(2, 2))));
  EXPECT_THAT(attrs_of_log("AvgPool", "{data_format = NHWC, strides = [1, 1, 2, 1]}"),
              ElementsAre(Pair("strides", ElementsAre(1, 2))));
  EXPECT_THAT(attrs_of_log("ReduceSum", "{keep_dims = True, eps = 1e-05, axes = []}"),
              ElementsAre(Pair("axes", IsEmpty()), Pair("eps", ElementsAre(1e-05)),
                          Pair("keep_dims", ElementsAre(1))));
}

// opbench has no attribute for asymmetric padding, so it stays unchanged.
TEST(ProfiledAttrs, KeepWhatTheyDoNotUnderstand) {
  EXPECT_THAT(attrs_of_log("Conv2D", "{pads = [0, 1, 0, 1]}"),
              ElementsAre(Pair("pads", ElementsAre(0, 1, 0, 1))));
  for (const char* text : {"{}", "{", "", "{a}", "{a = }", "{a = [1, [2]}", "{a = [[1, 2], [3]]}",
                           "{mode = SAME}", "]]]]", "{a = 1 = 2}"}) {
    EXPECT_THAT(attrs_of_log("X", text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace opbench
