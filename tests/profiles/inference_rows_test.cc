// Rows of profiles of language models: rotary embedding, caches of keys and values, decoding.
#include <gmock/gmock.h>

#include "tests/profiles/rows_of_profiles.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string quoted(const std::string& shapes, const std::string& dtypes,
                   const std::string& formats) {
  return '"' + shapes + "\"," + dtypes + ',' + formats;
}

std::vector<std::string> ids_of_row(const std::string& type, const std::string& inputs,
                                    const std::string& outputs) {
  return ids(cases_of_rows(row(type, inputs, outputs)));
}

}  // namespace

// The gradient of a profile may lack x: only dx is computed.
TEST(InferenceRows, RotaryEmbedding) {
  EXPECT_THAT(
      ids_of_row("RotaryPositionEmbedding",
                 quoted("64,1,16,128;64,1,1,128;64,1,1,128", "DT_BF16;DT_BF16;DT_BF16", "ND;ND;ND"),
                 quoted("64,1,16,128", "DT_BF16", "ND")),
      ElementsAre("rope[64x1x16x128,64x1x1x128,64x1x1x128,bf16,NCHW]"));
  EXPECT_THAT(ids_of_row("RotaryPositionEmbeddingGrad",
                         quoted("64,1,16,128;64,1,1,128;64,1,1,128;",
                                "DT_BF16;DT_BF16;DT_BF16;DT_UNDEFINED", "ND;ND;ND;NULL"),
                         quoted("64,1,16,128;;", "DT_BF16;DT_BF16;DT_BF16", "ND;ND;ND")),
              ElementsAre("rope_grad[64x1x16x128,64x1x1x128,64x1x1x128,bf16,NCHW]"));
}

// The layout of a cache follows from its shape.
TEST(InferenceRows, PagedCaches) {
  const auto stored = [](const std::string& cache) {
    return ids_of_row("ScatterPaKvCache",
                      quoted("6,8,128;" + cache + ";6;6,8,128;" + cache,
                             "DT_BF16;DT_BF16;INT32;DT_BF16;DT_BF16", "ND;ND;ND;ND;ND"),
                      quoted(cache + ';' + cache, "DT_BF16;DT_BF16", "ND;ND"));
  };
  EXPECT_THAT(stored("32,128,8,128"), ElementsAre(Not(HasSubstr("cache_mode"))));
  EXPECT_THAT(stored("32,64,128,16"), ElementsAre(HasSubstr("cache_mode=PA_NZ")));
}

// Absent operands have no shape. Heads have 128 elements unless the logarithms show their number.
TEST(InferenceRows, Decoding) {
  std::string shapes = "4,1,4096;128,128,1024;128,128,1024;;;;4", dtypes = "DT_BF16";
  for (int i = 7; i < 14; ++i) shapes += ';';
  shapes += ";4,32";
  for (const char* dtype : {"DT_BF16", "DT_BF16", "DT_BF16", "BOOL", "INT64", "INT64", "FLOAT",
                            "FLOAT", "FLOAT", "FLOAT", "FLOAT", "FLOAT", "FLOAT", "INT32"}) {
    dtypes += std::string(";") + dtype;
  }
  std::string formats = "ND";
  for (int i = 1; i < 15; ++i) formats += ";ND";
  EXPECT_THAT(ids_of_row("FusedInferAttentionScore", quoted(shapes, dtypes, formats),
                         quoted("4,1,4096;4,64,1,1", "DT_BF16;FLOAT", "ND;ND")),
              ElementsAre(HasSubstr("num_heads=64,num_key_value_heads=16,scale=0.125")));
  EXPECT_THAT(ids_of_row("FusedInferAttentionScore", quoted(shapes, dtypes, formats),
                         quoted("4,1,4096;1", "DT_BF16;FLOAT", "ND;ND")),
              ElementsAre(HasSubstr("num_heads=32,num_key_value_heads=8")));
  EXPECT_THAT(ids_of_row("FusedInferAttentionScore",
                         quoted("4,32,1,128;4,8,512,128;4,8,512,128", "DT_BF16;DT_BF16;DT_BF16",
                                "ND;ND;ND"),
                         quoted("4,32,1,128;1", "DT_BF16;FLOAT", "ND;ND")),
              ElementsAre(HasSubstr("num_heads=32,num_key_value_heads=8,scale=0.088388346,"
                                    "input_layout=BNSD")));
}

// Results in one axis have the number of heads: 5120 = 2*5*64*8 statistics. The mask of numbers
// shows that the first axis is the sequence.
TEST(InferenceRows, AttentionWithFlattenedResults) {
  const std::string results =
      quoted("5120;5120;;5120", "FLOAT;FLOAT;DT_BF16;DT_BF16", "ND;ND;ND;ND");
  const std::string three = "DT_BF16;DT_BF16;DT_BF16";
  const NetworkCases found =
      cases_of_rows(row("FlashAttentionScore",
                        quoted("64,2,40;64,2,40;64,2,40;;5152;;1,1,64,64",
                               three + ";FLOAT;UINT8;FLOAT;DT_BF16", "ND;ND;ND;NCHW;ND;NCHW;ND"),
                        results));
  EXPECT_THAT(ids(found),
              ElementsAre(HasSubstr("0,5152,1x1x64x64,bf16,ND,head_num=5,input_layout=SBH]")));
  ASSERT_EQ(found.cases.size(), 1);
  EXPECT_THAT(found.cases[0].notes, Contains("atten_mask is bf16: runs as bool of the same shape"));
  EXPECT_THAT(found.cases[0].notes, Contains("results are recorded as one axis"));
  const auto without_mask = [&](const std::string& query) {
    return ids_of_row("FlashAttentionScore",
                      quoted(query + ';' + query + ';' + query, three, "ND;ND;ND"), results);
  };
  EXPECT_THAT(without_mask("64,2,40"), ElementsAre(HasSubstr("head_num=5,input_layout=SBH]")));
  EXPECT_THAT(without_mask("2,64,40"), ElementsAre(HasSubstr("head_num=5,input_layout=BSH]")));
  EXPECT_THAT(without_mask("2,5,64,8"), ElementsAre(HasSubstr("head_num=5]")));
  EXPECT_THAT(without_mask("2,64,5,8"), ElementsAre(HasSubstr("head_num=5,input_layout=BSND]")));
  EXPECT_THAT(without_mask("64,2,48"), ElementsAre());  // 48 elements are not five heads
}

// A gradient leaves out what is not given: a tensor of numbers in the place of the mask is the mask
// or, in fp32, the first statistic.
TEST(InferenceRows, AttentionGradientWithAMaskOfNumbers) {
  const auto found = [](const std::string& mask, const std::string& dtype) {
    const std::string q = "64,2,40;";
    return ids_of_row(
        "FlashAttentionScoreGrad",
        quoted(q + q + q + q + mask + "5120;5120;;64,2,40",
               "DT_BF16;DT_BF16;DT_BF16;DT_BF16;" + dtype + "FLOAT;FLOAT;DT_BF16;DT_BF16",
               mask.empty() ? "ND;ND;ND;ND;ND;ND;ND;ND" : "ND;ND;ND;ND;ND;ND;ND;ND;ND"),
        quoted("64,2,40;64,2,40;64,2,40", "DT_BF16;DT_BF16;DT_BF16", "ND;ND;ND"));
  };
  EXPECT_THAT(found("1,1,64,64;", "DT_BF16;"), ElementsAre(HasSubstr(",1x1x64x64,")));
  EXPECT_THAT(found("", ""), ElementsAre(Not(HasSubstr("1x1x64x64"))));
}

// A profile has keep_prob as a tensor without its value.
TEST(InferenceRows, DropoutWithUnknownShare) {
  EXPECT_THAT(ids_of_row("DropOutDoMask", quoted("32,64;256;", "FLOAT16;UINT8;FLOAT16", "ND;ND;ND"),
                         quoted("32,64", "FLOAT16", "ND")),
              ElementsAre("dropout_do_mask[32x64,256,fp16,ND]"));
}

}  // namespace opbench
