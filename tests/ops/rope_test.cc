#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/every_variant.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const std::vector<std::string> kRotaryModes = {"half", "interleave", "quarter", "interleave-half"};

const Given kRopeLine{kFp32, {1, 4}, {1, 2, 3, 4}};
const Given kRopeCos{kFp32, {1, 4}, {10, 20, 30, 40}},
    kRopeSin{kFp32, {1, 4}, {100, 200, 300, 400}};

std::vector<double> rope_in(const std::string& mode) {
  std::vector<double> y;
  on_every_isa([&] {
    y = agreed_values("rope", {kRopeLine, kRopeCos, kRopeSin}, {{"mode", mode}});
    EXPECT_EQ(kernel_on_tensors("rope", "rotary_position_embedding",
                                {kRopeLine, kRopeCos, kRopeSin}, {{"mode", mode}})[0],
              y);
  });
  return y;
}

}  // namespace

// y = p(x)*cos + r(x)*sin with r(x) = (-3, -4, 1, 2), (-2, 1, -4, 3), (-2, 1, -4, 3) and, for
// p(x) = (1, 3, 2, 4), (-2, -4, 1, 3).
TEST(Rope, ByHand) {
  EXPECT_THAT(rope_in("half"), ElementsAre(10 - 300, 40 - 800, 90 + 300, 160 + 800));
  EXPECT_THAT(rope_in("interleave"), ElementsAre(10 - 200, 40 + 200, 90 - 1200, 160 + 1200));
  EXPECT_THAT(rope_in("quarter"), ElementsAre(10 - 200, 40 + 200, 90 - 1200, 160 + 1200));
  EXPECT_THAT(rope_in("interleave-half"), ElementsAre(10 - 200, 60 - 800, 60 + 300, 160 + 1200));
}

// A rotation by an angle and back.
TEST(Rope, GradientIsTheTransposedRotation) {
  for (const std::string& mode : kRotaryModes) {
    const Given cos{kFp32, {1, 4}, {0.5, 0.25, 0.5, 0.25}}, sin{kFp32, {1, 4}, {2, 4, 2, 4}};
    expect_gradients({"rope", {spread({3, 4}), cos, sin}, {{"mode", mode}}});
    expect_gradients({"rope",
                      {spread({2, 3, 2, 8}), spread({1, 3, 1, 8}, 1), spread({1, 3, 1, 8}, 2)},
                      {{"mode", mode}}});
  }
}

TEST(Rope, AnglesAreBroadcast) {
  for (const std::string& mode : kRotaryModes) {
    for (const Dims& angles : {Dims{1, 1, 7, 24}, Dims{3, 1, 7, 24}, Dims{1, 2, 1, 24}}) {
      expect_every_variant("rope", {{3, 2, 7, 24}, angles, angles}, {{"mode", mode}});
      expect_every_variant("rope_grad", {{3, 2, 7, 24}, angles, angles, {3, 2, 7, 24}},
                           {{"mode", mode}});
    }
    expect_every_variant("rope", {{5, 2, 132}, {5, 1, 132}, {5, 1, 132}}, {{"mode", mode}});
    expect_every_variant("rope_grad", {{5, 2, 132}, {5, 1, 132}, {5, 1, 132}}, {{"mode", mode}});
  }
}

// Profiles of a backward pass may lack x: only dx is computed.
TEST(RopeGrad, WithoutXHasOneOutput) {
  const Op& op = find_op("rope_grad");
  EXPECT_EQ(problem_with(op, {{2, 4}, {1, 4}, {1, 4}}, {}, kFp32).outputs.size(), 1u);
  EXPECT_EQ(problem_with(op, {{2, 4}, {1, 4}, {1, 4}, {2, 4}}, {}, kFp32).outputs.size(), 3u);
}

TEST(Rope, RefusesOtherShapes) {
  const auto refused = [](const char* op, const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, attrs, kFp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("rope", {{2, 3}, {2, 3}, {2, 3}}, {},
          "rope: 3 elements of 'x' are rotated; allowed: multiples of 2");
  refused("rope", {{2, 6}, {2, 6}, {2, 6}}, {{"mode", "quarter"}}, "allowed: multiples of 4");
  refused("rope", {{2, 4}, {3, 4}, {3, 4}}, {},
          "rope: 'cos' has shape 3x4; allowed: 2x4, or 1 on axes along which it is repeated");
  refused("rope", {{2, 4}, {4}, {4}}, {}, "'cos' has shape 4; allowed: 2x4");
  refused("rope", {{2, 4}, {2, 2}, {2, 2}}, {}, "allowed: 4 elements on the last axis");
  refused("apply_rotary_pos_emb", {{2, 4}, {2, 4}, {2, 0}, {2, 0}}, {}, "'cos' has shape 2x0");
  refused("rope", {{2, 4}, {1, 4}, {2, 4}}, {}, "'sin' has shape 2x4; allowed: 1x4");
  refused("rope", {{2, 4}, {1, 4}, {1, 4}}, {{"mode", "third"}}, "it must be half, interleave");
  refused("rope_grad", {{2, 4}, {1, 4}, {1, 4}, {1, 4}}, {}, "'x' has shape 1x4; allowed: 2x4");
}

}  // namespace opbench
