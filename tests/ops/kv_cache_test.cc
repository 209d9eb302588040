#include <gmock/gmock.h>

#include <numeric>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given counted_from(const Dims& shape, double from) {
  Given given{kFp32, shape, std::vector<double>(static_cast<std::size_t>(element_count(shape)))};
  std::iota(given.values.begin(), given.values.end(), from);
  return given;
}

Given int32_index(const Dims& shape, const std::vector<double>& values) {
  return {DType::int32, shape, values};
}

}  // namespace

// Tokens 0 and 2 go to place 1 of block 1 and place 0 of block 0; token 1 is skipped.
TEST(ScatterPaKvCache, Norm) {
  const Given key = counted_from({3, 1, 2}, 1), cache = counted_from({2, 2, 1, 2}, 100);
  EXPECT_THAT(
      agreed_values("scatter_pa_kv_cache", {key, key, cache, cache, int32_index({3}, {3, -1, 0})}),
      ElementsAre(5, 6, 102, 103, 104, 105, 1, 2));
}

// c0 is 8 in fp32: element 8 of the row is the first of the second part of its block.
TEST(ScatterPaKvCache, PaNz) {
  const Given key = counted_from({1, 2, 8}, 1), cache = counted_from({1, 2, 2, 8}, 100);
  const std::vector<double> y =
      agreed_values("scatter_pa_kv_cache", {key, key, cache, cache, int32_index({1}, {1})},
                    {{"cache_mode", "PA_NZ"}});
  EXPECT_EQ(y[0], 100);
  EXPECT_EQ(y[8], 1);
  EXPECT_EQ(y[15], 8);
  EXPECT_EQ(y[16], 116);
  EXPECT_EQ(y[24], 9);
  EXPECT_EQ(y[31], 16);
}

// Sequence 0 has one token in block 2, sequence 1 three tokens in blocks 0 and 1; the last row of
// key keeps its values.
TEST(GatherPaKvCache, SequenceAfterSequence) {
  const Given cache = counted_from({3, 2, 1}, 0), key = counted_from({5, 1}, 100);
  const Given table = int32_index({2, 2}, {2, -1, 0, 1});
  EXPECT_THAT(agreed_values("gather_pa_kv_cache",
                            {cache, cache, table, int32_index({2}, {1, 3}), key, key}),
              ElementsAre(4, 0, 1, 2, 104));
  EXPECT_THAT(agreed_values("gather_pa_kv_cache",
                            {cache, cache, table, int32_index({3}, {0, 1, 4}), key, key},
                            {{"is_seq_lens_cumsum", "true"}}),
              ElementsAre(4, 0, 1, 2, 104));
  EXPECT_THAT(agreed_values("gather_pa_kv_cache", {cache, cache, table, int32_index({2}, {1, 2}),
                                                   key, key, int32_index({2}, {1, 1})}),
              ElementsAre(5, 1, 2, 103, 104));
}

// One row for each batch, at its own place of axis 1.
TEST(NpuScatter, ByHand) {
  const Given self = counted_from({2, 3, 1}, 0), updates{kFp32, {2, 1, 1}, {10, 20}};
  EXPECT_THAT(agreed_values("npu_scatter", {self, int32_index({2}, {2, 0}), updates}),
              ElementsAre(0, 1, 10, 20, 4, 5));
  const Given two{kFp32, {1, 2, 2, 1}, {10, 11, 20, 21}};
  EXPECT_THAT(
      agreed_values("npu_scatter", {counted_from({1, 2, 3, 1}, 0), int32_index({1}, {1}), two}),
      ElementsAre(0, 10, 11, 3, 20, 21));
}

TEST(KvCache, EveryDTypeAndSize) {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::int8}) {
    for (const int threads : {1, 2}) {
      const auto conforms = [&](const char* op, const std::vector<Dims>& shapes,
                                const AttrTexts& attrs = {}) {
        const Problem problem = problem_with(find_op(op), shapes, attrs, dtype, Format::ND);
        EXPECT_TRUE(expect_conforms(*kernels_of(op)[0], problem, threads)) << op;
      };
      const std::int64_t c0 = 32 / std::int64_t(size_of(dtype));
      conforms("scatter_pa_kv_cache",
               {{60, 3, 33}, {60, 3, 7}, {5, 16, 3, 33}, {5, 16, 3, 7}, {60}});
      conforms("scatter_pa_kv_cache",
               {{60, 2, c0}, {60, 3, c0}, {5, 2, 16, c0}, {5, 3, 16, c0}, {60}},
               {{"cache_mode", "PA_NZ"}});
      conforms("gather_pa_kv_cache",
               {{9, 16, 3, 33}, {9, 16, 3, 7}, {4, 3}, {4}, {130, 3, 33}, {130, 3, 7}});
      conforms("npu_scatter", {{3, 2, 17, 130}, {3}, {3, 2, 4, 130}});
    }
  }
}

TEST(KvCache, RefusesOtherShapes) {
  const auto refused = [](const char* op, const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, attrs, kFp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("scatter_pa_kv_cache", {{2, 3}, {2, 3}, {4, 2, 4}, {4, 2, 3}, {2}}, {},
          "'key_cache' has shape 4x2x4; allowed: [blocks, block_size, ...] with the last extents");
  refused("scatter_pa_kv_cache", {{2, 3}, {2, 3}, {4, 2, 3}, {4, 2, 3}, {3}}, {},
          "'slot_mapping' has shape 3; allowed: 2");
  for (const Dims& small : {Dims{3, 2, 3}, Dims{4, 1, 3}}) {
    refused("scatter_pa_kv_cache", {{2, 3}, {2, 3}, {4, 2, 3}, small, {2}}, {},
            "allowed: 4 blocks of 2 places, those of 'key_cache'");
    refused("gather_pa_kv_cache", {{4, 2, 3}, small, {1, 2}, {1}, {4, 3}, {4, 3}}, {},
            "keys and values have different tokens or blocks");
  }
  refused("scatter_pa_kv_cache", {{2, 8}, {2, 8}, {4, 2, 8}, {4, 2, 8}, {2}},
          {{"cache_mode", "PA_NZ"}},
          "'key_cache' has shape 4x2x8; allowed: [blocks, 8/8, block_size, 8]");
  refused("gather_pa_kv_cache", {{4, 2, 3}, {4, 2, 3}, {1, 2}, {1}, {4, 4}, {4, 3}}, {},
          "'key' has shape 4x4");
  refused("gather_pa_kv_cache", {{4, 2, 3}, {4, 2, 3}, {1, 2}, {2}, {4, 3}, {4, 3}}, {},
          "'seq_lens' has shape 2; allowed: 1");
  refused("npu_scatter", {{2, 3}, {3}, {2, 1}}, {{"dim", "1"}},
          "'indices' has shape 3; allowed: 2");
  refused("npu_scatter", {{2, 3}, {2}, {2, 4}}, {{"dim", "1"}}, "'updates' has shape 2x4");
  refused("npu_scatter", {{2, 3}, {2}, {2, 3}}, {{"dim", "0"}}, "dim is 0");
}

TEST(KvCache, ChecksIndices) {
  const Given key = counted_from({2, 1}, 1), cache = counted_from({1, 2, 1}, 100);
  const auto refused = [](const char* op, const std::vector<Given>& inputs, const char* text) {
    EXPECT_THAT([&] { reference_of_tensors(op, inputs); }, ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("scatter_pa_kv_cache", {key, key, cache, cache, int32_index({2}, {0, 2})},
          "slot_mapping[1] is 2; allowed: -1 (not stored), and each of 0 to 1 once");
  refused("scatter_pa_kv_cache", {key, key, cache, cache, int32_index({2}, {1, 1})},
          "slot_mapping[1]");
  const Given to = counted_from({2, 1}, 1);
  refused("gather_pa_kv_cache",
          {cache, cache, int32_index({1, 1}, {1}), int32_index({1}, {1}), to, to},
          "block_tables[0] is 1; allowed: 0 to 0");
  refused("gather_pa_kv_cache",
          {cache, cache, int32_index({1, 1}, {0}), int32_index({1}, {3}), to, to},
          "sequence 0 has 3 tokens from 0 on; allowed: up to 2");
  refused("gather_pa_kv_cache",
          {cache,
           cache,
           int32_index({1, 1}, {0}),
           {DType::int64, {1}, {2}},
           to,
           to,
           {DType::int64, {1}, {9223372036854774784.0}}},
          "sequence 0 has 2 tokens from 9223372036854774784 on; allowed: up to 2");
  refused("gather_pa_kv_cache",
          {cache, cache, int32_index({2, 1}, {0, 0}), int32_index({2}, {2, 1}), to, to},
          "seq_lens has 3 tokens; allowed: at most 2");
  refused("npu_scatter",
          {counted_from({1, 3, 1}, 0), int32_index({1}, {2}), counted_from({1, 2, 1}, 0)},
          "indices[0] is 2; allowed: 0 to 1");
}

}  // namespace opbench
