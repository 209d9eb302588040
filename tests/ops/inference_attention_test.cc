#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/every_variant.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;
using testing::ThrowsMessage;

namespace {

constexpr const char *kInferOp = "fused_infer_attention_score",
                     *kQuantisedOp = "fused_infer_attention_score_kv_int8";
const Given kNoLengths{DType::int64, {0}, {}};
const Given kNoMask{DType::boolean, {0}, {}};
const Given kNoTable{DType::int32, {0}, {}};

Given seq_lengths(const std::vector<double>& values) {
  return {DType::int64, {std::ssize(values)}, values};
}

AttrTexts with_lse(AttrTexts attrs) {
  attrs["softmax_lse_flag"] = "true";
  return attrs;
}

/// Both outputs of the reference; every variant must be near them with every instruction set.
Values inferred(const std::vector<Given>& inputs, const AttrTexts& attrs) {
  Values expected = reference_of_tensors(kInferOp, inputs, with_lse(attrs));
  on_every_isa([&] {
    for (const Kernel* kernel : kernels_of(kInferOp)) {
      const Values actual = kernel_on_tensors(kInferOp, kernel->name, inputs, with_lse(attrs), 2);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_THAT(actual[i], Pointwise(testing::FloatNear(1e-4f), expected[i])) << kernel->name;
      }
    }
  });
  return expected;
}

/// Elements [batch, heads, rows, width] of `given` as [batch, rows, heads, width], in shape `to`.
Given with_heads_inside(const Given& given, const Dims& to) {
  const std::int64_t heads = given.shape[1], rows = given.shape[2], width = given.shape[3];
  Given moved{given.dtype, to, given.values};
  for (std::int64_t i = 0; i < std::ssize(given.values); ++i) {
    const std::int64_t row = i / width % rows, head = i / (width * rows) % heads,
                       batch = i / (width * rows * heads);
    moved.values[static_cast<std::size_t>(((batch * rows + row) * heads + head) * width +
                                          i % width)] = given.values[static_cast<std::size_t>(i)];
  }
  return moved;
}

const AttrTexts kHeadAttrs = {{"num_heads", "4"}, {"num_key_value_heads", "2"}, {"scale", "0.25"}};

AttrTexts in_layout(const std::string& layout, AttrTexts attrs = kHeadAttrs) {
  attrs["input_layout"] = layout;
  return attrs;
}

// Two sequences of 3 queries and 6 keys, 4 heads of queries and 2 of keys, 8 elements.
const Given kQueries = spread({2, 4, 3, 8}), kKeys = spread({2, 2, 6, 8}, 1),
            kValues = spread({2, 2, 6, 8}, 2);

}  // namespace

// Scores 0 and ln 3: a quarter of 4 and three quarters of 8.
TEST(InferenceAttention, ByHand) {
  const Given query{kFp32, {1, 1, 1}, {1}}, key{kFp32, {1, 2, 1}, {0, std::log(3)}},
      value{kFp32, {1, 2, 1}, {4, 8}};
  const Values y = inferred({query, key, value}, {});
  EXPECT_THAT(y[0], ElementsAre(DoubleNear(7, 1e-6)));
  EXPECT_THAT(y[1], ElementsAre(DoubleNear(std::log(4), 1e-6)));
}

TEST(InferenceAttention, LayoutsAgree) {
  const Values y = inferred({kQueries, kKeys, kValues}, in_layout("BNSD"));
  const auto inside = [&](const Dims& query, const Dims& key) {
    return std::vector<Given>{with_heads_inside(kQueries, query), with_heads_inside(kKeys, key),
                              with_heads_inside(kValues, key)};
  };
  const std::vector<double> moved =
      with_heads_inside({kFp32, {2, 4, 3, 8}, y[0]}, {2, 3, 32}).values;
  EXPECT_EQ(inferred(inside({2, 3, 32}, {2, 6, 16}), in_layout("BSH")), (Values{moved, y[1]}));
  EXPECT_EQ(inferred(inside({2, 3, 4, 8}, {2, 6, 2, 8}), in_layout("BSND")), (Values{moved, y[1]}));
  std::vector<Given> packed = inside({6, 4, 8}, {12, 2, 8});
  packed.insert(packed.end(), {kNoMask, seq_lengths({3, 6}), seq_lengths({6, 12})});
  EXPECT_EQ(inferred(packed, in_layout("TND"))[0], moved);
}

// Block 3 has keys 0 to 3 of the first sequence, block 1 the others; the second sequence has 3
// keys in block 0. Block ids after the length may have any value.
TEST(InferenceAttention, PagesHoldTheKeys) {
  const auto paged = [](const Given& dense, bool by_heads) {
    Given cache{kFp32, by_heads ? Dims{4, 2, 4, 8} : Dims{4, 4, 16}, std::vector<double>(256)};
    constexpr int kBlocks[2][2] = {{3, 1}, {0, 0}};
    for (int b = 0; b < 2; ++b) {
      for (int key = 0; key < (b == 0 ? 6 : 3); ++key) {
        for (int i = 0; i < 16; ++i) {
          const int block = kBlocks[b][key / 4], place = key % 4, head = i / 8;
          const int to = by_heads ? ((block * 2 + head) * 4 + place) * 8 + i % 8
                                  : (block * 4 + place) * 16 + i;
          cache.values[static_cast<std::size_t>(to)] =
              dense.values[static_cast<std::size_t>(((b * 2 + head) * 6 + key) * 8 + i % 8)];
        }
      }
    }
    return cache;
  };
  const Given keys = seq_lengths({6, 3}), table{DType::int32, {2, 2}, {3, 1, 0, -1}};
  for (const char* mode : {"0", "3"}) {
    AttrTexts attrs = in_layout("BNSD");
    attrs["sparse_mode"] = mode;
    const Values y = inferred({kQueries, kKeys, kValues, kNoMask, kNoLengths, keys}, attrs);
    for (const bool by_heads : {false, true}) {
      EXPECT_EQ(inferred({kQueries, paged(kKeys, by_heads), paged(kValues, by_heads), kNoMask,
                          kNoLengths, keys, table},
                         attrs),
                y);
    }
  }
}

// Row i sees keys 0 to i, 0 to i + 3, and i + 2 to i + 4.
TEST(InferenceAttention, ModesAreMasks) {
  const auto expect_mask = [](const AttrTexts& mode, auto is_visible) {
    Given hidden = mask({3, 6}, {});
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 6; ++j) hidden.values.push_back(is_visible(i, j) ? 0 : 1);
    }
    AttrTexts attrs = in_layout("BNSD");
    const Values y = inferred({kQueries, kKeys, kValues, hidden}, attrs);
    attrs.insert(mode.begin(), mode.end());
    EXPECT_EQ(inferred({kQueries, kKeys, kValues}, attrs), y);
  };
  expect_mask({{"sparse_mode", "2"}}, [](int i, int j) { return j <= i; });
  expect_mask({{"sparse_mode", "3"}}, [](int i, int j) { return j <= i + 3; });
  expect_mask({{"sparse_mode", "4"}, {"pre_tokens", "1"}, {"next_tokens", "1"}},
              [](int i, int j) { return j >= i + 2 && j <= i + 4; });
  expect_mask({{"sparse_mode", "1"}, {"next_tokens", "0"}}, [](int, int) { return true; });
}

// A decoding step sees all keys in every mode.
TEST(InferenceAttention, OneQueryIgnoresTheMode) {
  const Given query = spread({2, 4, 1, 8});
  AttrTexts attrs = in_layout("BNSD");
  const Values y = inferred({query, kKeys, kValues}, attrs);
  attrs["sparse_mode"] = "2";
  EXPECT_EQ(inferred({query, kKeys, kValues}, attrs), y);
}

TEST(InferenceAttention, RowsWithoutKeysAreZero) {
  const Given query = spread({2, 4, 1, 8});
  const Values y = inferred({query, kKeys, kValues, kNoMask, kNoLengths, seq_lengths({0, 6})},
                            in_layout("BNSD"));
  EXPECT_EQ(y[0][0], 0);
  EXPECT_EQ(y[1][0], HUGE_VAL);
  EXPECT_NE(y[0][32], 0);
}

// Elements for rope behind the others are as good as wider heads.
TEST(InferenceAttention, RopePartsAreAddedToScores) {
  const auto part = [](const Given& given, std::int64_t first, std::int64_t count) {
    Given some{kFp32, given.shape, {}};
    some.shape.back() = count;
    for (std::int64_t i = 0; i < std::ssize(given.values); ++i) {
      const bool is_in = i % 8 >= first && i % 8 < first + count;
      if (is_in) some.values.push_back(given.values[static_cast<std::size_t>(i)]);
    }
    return some;
  };
  EXPECT_THAT(
      inferred({part(kQueries, 0, 5), part(kKeys, 0, 5), kValues, kNoMask, kNoLengths, kNoLengths,
                kNoTable, part(kQueries, 5, 3), part(kKeys, 5, 3)},
               in_layout("BNSD"))[0],
      Pointwise(DoubleNear(1e-12), inferred({kQueries, kKeys, kValues}, in_layout("BNSD"))[0]));
}

// Scales are powers of two, so that products are exact: of the 16 channels, or of each key.
TEST(InferenceAttention, QuantisedKeysAreScaled) {
  for (const bool by_key : {false, true}) {
    Given keys{DType::int8, kKeys.shape, {}}, dequantised = kKeys;
    Given scale{kFp32, by_key ? Dims{2, 6} : Dims{16}, {}};
    for (std::int64_t i = 0; i < element_count(scale.shape); ++i) {
      scale.values.push_back(std::ldexp(1, static_cast<int>(-i % 5 - 4)));
    }
    for (std::int64_t i = 0; i < std::ssize(kKeys.values); ++i) {
      keys.values.push_back(double(i * 7 % 255 - 127));
      const std::int64_t key = i / 8 % 6, head = i / 48 % 2, batch = i / 96;
      const std::int64_t place = by_key ? batch * 6 + key : head * 8 + i % 8;
      dequantised.values[static_cast<std::size_t>(i)] =
          keys.values.back() * scale.values[static_cast<std::size_t>(place)];
    }
    const Values y = inferred({kQueries, dequantised, dequantised}, in_layout("BNSD"));
    AttrTexts attrs = with_lse(in_layout("BNSD"));
    attrs["key_antiquant_mode"] = by_key ? "1" : "0";
    const std::vector<Given> inputs = {kQueries,         keys,       keys,     kNoMask,
                                       kNoLengths,       kNoLengths, kNoTable, {kFp32, {0}, {}},
                                       {kFp32, {0}, {}}, scale,      scale};
    EXPECT_EQ(reference_of_tensors(kQuantisedOp, inputs, attrs), y);
    for (const Kernel* kernel : kernels_of(kQuantisedOp)) {
      EXPECT_THAT(kernel_on_tensors(kQuantisedOp, kernel->name, inputs, attrs, 2)[0],
                  Pointwise(testing::FloatNear(1e-4f), y[0]))
          << kernel->name;
    }
  }
}

TEST(InferenceAttention, EveryVariantAtEverySize) {
  for (const std::int64_t width : {8, 40, 128}) {
    for (const char* mode : {"0", "3", "4"}) {
      const Dims keys = {2, 150, 2, width};
      expect_every_variant(kInferOp, {{2, 23, 6, width}, keys, keys},
                           {{"num_heads", "6"},
                            {"num_key_value_heads", "2"},
                            {"scale", "0.1"},
                            {"input_layout", "BSND"},
                            {"softmax_lse_flag", "true"},
                            {"sparse_mode", mode},
                            {"pre_tokens", "70"},
                            {"next_tokens", "3"}});
    }
  }
}

// Parts of 1024 keys have sums of their own, which are joined.
TEST(InferenceAttention, LongCachesHaveParts) {
  for (const char* layout : {"BSND", "BNSD"}) {
    const bool by_heads = std::string(layout) == "BNSD";
    const Dims query = by_heads ? Dims{1, 4, 1, 8} : Dims{1, 1, 4, 8},
               keys = by_heads ? Dims{1, 2, 2049, 8} : Dims{1, 2049, 2, 8};
    expect_every_variant(kInferOp, {query, keys, keys}, in_layout(layout, with_lse(kHeadAttrs)));
  }
}

TEST(InferenceAttention, RefusesOtherShapes) {
  const auto refused = [](const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(kInferOp), shapes, attrs, kFp32, Format::ND); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({{2, 3}, {2, 3}, {2, 3}}, {}, "'query' has shape 2x3; allowed: BSH with 1 heads");
  refused({{1, 1, 4}, {1, 2, 6}, {1, 2, 6}}, {},
          "'key' has shape 1x2x6; allowed: 4 elements of a head");
  refused({{1, 1, 4}, {1, 2, 4}, {1, 3, 4}}, {}, "'value' has shape 1x3x4");
  refused({{1, 1, 4}, {1, 2, 4}, {}}, {}, "'value' has shape scalar");
  refused({{1, 1, 4}, {1, 2, 4}, {1, 2, 4}, {1, 1}}, {}, "'atten_mask' has shape 1x1");
  refused({{1, 1, 4}, {1, 2, 4}, {1, 2, 4}, {0}, {0}, {2}}, {},
          "'actual_seq_lengths_kv' has shape 2; allowed: 1");
  refused({{1, 1, 4}, {1, 2, 4}, {1, 2, 4}, {0}, {0}, {0}, {1, 1}}, {},
          "a block_table needs actual_seq_lengths_kv");
  refused({{1, 1, 4}, {1, 2, 4}, {1, 2, 4}, {0}, {0}, {1}, {2, 1}}, {},
          "'block_table' has shape 2x1; allowed: [1, blocks]");
  refused({{1, 1, 4}, {1, 2, 4}, {1, 2, 4}}, {{"num_heads", "2"}, {"num_key_value_heads", "3"}},
          "2 heads and 3 of keys; allowed: a multiple");
  refused({{3, 1, 4}, {3, 1, 4}, {3, 1, 4}}, {{"input_layout", "TND"}}, "layout TND needs");
  const auto scales_refused = [](const Dims& scale, DType dtype) {
    const Given x = spread({1, 1, 4}), keys{DType::int8, {1, 2, 4}, std::vector<double>(8)};
    const auto none = [](DType of) { return Given{of, {0}, {}}; };
    EXPECT_THAT(
        [&] {
          reference_of_tensors(
              kQuantisedOp,
              {x,
               keys,
               keys,
               kNoMask,
               kNoLengths,
               kNoLengths,
               kNoTable,
               none(kFp32),
               none(kFp32),
               {kFp32, {1, 2}, {1, 1}},
               {dtype, scale, std::vector<double>(std::size_t(element_count(scale)), 1)}},
              {{"key_antiquant_mode", "1"}});
        },
        ThrowsMessage<Error>(HasSubstr("value_antiquant_scale")));
  };
  scales_refused({1, 3}, kFp32);
  scales_refused({1, 2}, DType::fp16);
}

// Each query is so far behind the first key that its band is before it, or sees all keys.
TEST(InferenceAttention, BandsStayWithinTheKeys) {
  const Given q = spread({1, 2, 8}), k = spread({1, 5, 8}, 1);
  const auto banded = [&](const char* before, const char* after) {
    return inferred({q, k, k},
                    {{"sparse_mode", "4"}, {"pre_tokens", before}, {"next_tokens", after}})[0];
  };
  EXPECT_THAT(banded("-1000", "2147483647"), Each(0));
  EXPECT_THAT(banded("2147483647", "-1000"), Each(0));
  EXPECT_EQ(banded("9223372036854775807", "9223372036854775807"), inferred({q, k, k}, {})[0]);
}

TEST(InferenceAttention, ChecksLengthsAndBlocks) {
  const Given query = spread({1, 1, 8}), cache = spread({2, 4, 8});
  const auto refused = [&](const Given& keys, double block, const char* text) {
    const Given table{DType::int32, {1, 1}, {block}};
    EXPECT_THAT(
        [&] {
          reference_of_tensors(kInferOp, {query, cache, cache, kNoMask, kNoLengths, keys, table});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused(seq_lengths({5}), 0, "actual_seq_lengths_kv[0] is 5; allowed: 0 to 4");
  refused(seq_lengths({4}), 2, "block_table[0] is 2; allowed: 0 to 1");
}

}  // namespace opbench
