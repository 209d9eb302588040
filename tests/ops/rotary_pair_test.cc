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

Given positions_at(const Dims& shape, const std::vector<double>& values) {
  return {DType::int64, shape, values};
}

// A row for each position: cosines, then sines.
const Given kCosSinTable{kFp32, {3, 4}, {1, 2, 10, 20, 3, 4, 30, 40, 5, 6, 50, 60}};
const Given kHead{kFp32, {1, 4}, {1, 1, 1, 1}};

std::vector<double> rotated_by_table(const Given& at, const AttrTexts& attrs) {
  std::vector<double> y;
  on_every_isa([&] {
    y = agreed_values("mrope", {at, kHead, kHead, kCosSinTable}, attrs);
    EXPECT_EQ(kernel_on_tensors("mrope", "rope_with_sin_cos_cache",
                                {at, kHead, kHead, kCosSinTable}, attrs)[0],
              y);
  });
  return y;
}

}  // namespace

// With equal angles query and key are rotated like x of rope; elements after those of cos are
// copied.
TEST(ApplyRotaryPosEmb, IsRopeOfBoth) {
  const Given query = spread({3, 4, 8}), key = spread({3, 1, 8}, 1), cos = spread({3, 1, 8}, 2),
              sin = spread({3, 1, 8}, 3);
  for (const char* mode : {"half", "interleave", "quarter"}) {
    const Values y =
        reference_of_tensors("apply_rotary_pos_emb", {query, key, cos, sin}, {{"mode", mode}});
    EXPECT_EQ(y[0], reference_of_tensors("rope", {query, cos, sin}, {{"mode", mode}})[0]);
    EXPECT_EQ(y[1], reference_of_tensors("rope", {key, cos, sin}, {{"mode", mode}})[0]);
  }
  const Given half{kFp32, {1, 4}, {1, 2, 7, 8}}, angles{kFp32, {1, 2}, {3, 4}};
  const Values y = reference_of_tensors("apply_rotary_pos_emb", {half, half, angles, angles});
  EXPECT_THAT(y[0], ElementsAre(3 - 6, 8 + 4, 7, 8));
}

TEST(ApplyRotaryPosEmb, EveryVariantInEveryMode) {
  for (const char* mode : {"half", "interleave", "quarter", "interleave-half"}) {
    expect_every_variant("apply_rotary_pos_emb",
                         {{2, 5, 4, 36}, {2, 5, 1, 36}, {2, 5, 1, 36}, {2, 5, 1, 36}},
                         {{"mode", mode}});
    expect_every_variant("apply_rotary_pos_emb", {{7, 4, 40}, {7, 2, 40}, {7, 1, 16}, {7, 1, 16}},
                         {{"mode", mode}});
  }
}

// Position 1: cosines 3, 4 and sines 30, 40.
TEST(Mrope, ByHand) {
  EXPECT_THAT(rotated_by_table(positions_at({1}, {1}), {}), ElementsAre(-27, -36, 33, 44));
  EXPECT_THAT(rotated_by_table(positions_at({1}, {1}), {{"mode", "interleave"}}),
              ElementsAre(-27, 33, -36, 44));
}

// The first pair from the first axis, at position 0, the second from the last, at position 2.
TEST(Mrope, PairsTakeTheirAxis) {
  EXPECT_THAT(rotated_by_table(positions_at({3, 1}, {0, 1, 2}), {{"mrope_section", "[1,0,1]"}}),
              ElementsAre(-9, -54, 11, 66));
  EXPECT_THAT(rotated_by_table(positions_at({3, 1}, {0, 1, 2}),
                               {{"mrope_section", "[0,1,1]"}, {"cache_mode", "interleave"}}),
              ElementsAre(-9, -36, 11, 44));
}

TEST(Mrope, EveryVariant) {
  for (const char* mode : {"half", "interleave"}) {
    expect_every_variant("mrope", {{9}, {9, 96}, {9, 48}, {17, 24}},
                         {{"mode", mode}, {"head_size", "48"}});
    expect_every_variant(
        "mrope", {{3, 9}, {9, 96}, {9, 48}, {17, 48}},
        {{"mode", mode}, {"mrope_section", "[8,8,8]"}, {"cache_mode", "interleave"}});
  }
}

TEST(RotaryPair, RefusesOtherShapesAndPositions) {
  const auto refused = [](const char* op, const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, attrs, kFp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("apply_rotary_pos_emb", {{2, 4}, {3, 4}, {2, 4}, {2, 4}}, {}, "'cos' has shape 2x4");
  refused("apply_rotary_pos_emb", {{2, 4}, {2, 4}, {2, 3}, {2, 3}}, {},
          "3 elements of 'cos' are rotated");
  refused("mrope", {{1, 1, 1}, {1, 4}, {1, 4}, {3, 4}}, {}, "'positions' has shape 1x1x1");
  refused("mrope", {{2}, {1, 4}, {2, 4}, {3, 4}}, {},
          "'query' has shape 1x4; allowed: [2, a multiple of 4]");
  refused("mrope", {{2}, {2, 4}, {2, 5}, {3, 4}}, {}, "'key' has shape 2x5");
  refused("mrope", {{2}, {2, 4}, {2, 4}, {3, 4}}, {{"head_size", "2"}},
          "'cos_sin_cache' has shape 3x4; allowed: at most the 2 elements of a head");
  refused("mrope", {{2}, {2, 4}, {2, 4}, {3, 4}}, {{"mode", "quarter"}}, "mode is 'quarter'");
  refused("mrope", {{3, 2}, {2, 4}, {2, 4}, {3, 4}}, {{"mrope_section", "[1,1,1]"}},
          "mrope_section is [1,1,1]; allowed: 3 numbers from 0 on with the sum 2");
  for (const char* sections : {"[3,-2,1]", "[-1,2,1]"}) {
    refused("mrope", {{3, 2}, {2, 4}, {2, 4}, {3, 4}}, {{"mrope_section", sections}},
            "3 numbers from 0 on");
  }
  EXPECT_THAT([] { rotated_by_table(positions_at({1}, {3}), {}); },
              ThrowsMessage<Error>(HasSubstr("positions[0] is 3; allowed: 0 to 2")));
}

}  // namespace opbench
