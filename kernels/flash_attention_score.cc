// Attention tile by tile, without a matrix of all scores: block after block of keys, with the
// maximum and the sum of each query so far.
#include <cmath>
#include <memory>

#include "kernels/attention.h"
#include "kernels/simd/attention_rows.h"
#include "kernels/simd/gemm.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// A tile of queries of one head.
struct Tile {
  AttentionHead head;
  std::int64_t first = 0, count = 0;
  float greatest[kQueryTile] = {}, total[kQueryTile] = {};
  float *query = nullptr, *scores = nullptr,
        *sums = nullptr;  // rows of the size of a head, of a block of keys, of a value
};

struct TiledAttention {
  Problem problem;
  Attention a;
  DType dtype;
  std::int64_t value_pitch, blocks;  // blocks of a head
  Scratch keys, values;              // blocks of keys, transposed; their values

  static std::int64_t key_rows(const Attention& a) {
    return (a.is_packed ? 1 : a.batch) * a.key_heads * key_blocks_of(a.keys) * kKeyBlock;
  }
  static std::int64_t value_pitch_of(const Attention& a) { return round_up_to_cube(a.value_size); }

  explicit TiledAttention(const Problem& p)
      : problem(p),
        a(attention_of(p)),
        dtype(p.inputs[0].dtype),
        value_pitch(value_pitch_of(a)),
        blocks(key_blocks_of(a.keys)),
        keys(key_rows(a) * a.size),
        values(key_rows(a) * value_pitch) {}

  // Blocks are counted over sequences, heads of keys and keys.
  std::int64_t block(std::int64_t sequence, std::int64_t key_head, std::int64_t number) const {
    return (sequence * a.key_heads + key_head) * blocks + number;
  }
  float* block_keys(std::int64_t number) const { return keys.data() + number * kKeyBlock * a.size; }
  float* block_values(std::int64_t number) const {
    return values.data() + number * kKeyBlock * value_pitch;
  }

  void pack(const KernelArgs& args, const AttentionCall& call, const SequenceGroup& group) const {
    const std::int64_t parts = key_blocks_of(group.sequence.keys);
    parallel_blocks(group.count * a.key_heads * parts, [&](std::int64_t i) {
      thread_local AlignedFloats rows;
      rows.resize(kKeyBlock * a.size);
      const std::int64_t in_group = i / parts / a.key_heads, head = i / parts % a.key_heads;
      const AttentionSequence s = group.at(call, in_group);
      const std::int64_t first = i % parts * kKeyBlock, count = std::min(kKeyBlock, s.keys - first);
      const std::int64_t to = block(in_group, head, i % parts);
      const AttentionRows key{dtype, a.key, a.size}, value{dtype, a.value, a.value_size};
      key.load(args.inputs[1], s.batch, head, s.first_key + first, count, a.size, rows.data());
      transpose_rows(rows.data(), count, a.size, a.size, kKeyBlock, block_keys(to));
      value.load(args.inputs[2], s.batch, head, s.first_key + first, count, value_pitch,
                 block_values(to));
    });
  }

  // Scores of keys `all`, of which `seen` are visible, become shares of the greatest score so far.
  // The sums so far are scaled to it.
  void update_row(const AttentionCall& call, Tile& tile, std::int64_t r, KeyRange all,
                  KeyRange seen, float* x) const {
    float* const row = x + seen.first - all.first;
    std::fill(x, row, 0.0f);
    std::fill(row + seen.count(), x + all.count(), 0.0f);
    if (seen.count() == 0) return;
    float greatest = 0;
    if (a.has_shift || a.has_mask) {
      finish_scores(a, call, tile.head, tile.first + r, seen, row);
      greatest = scale_scores(row, seen.count(), 1);
    } else {
      greatest = scale_scores(row, seen.count(), a.scale);
    }
    if (greatest == -HUGE_VALF) return std::fill(row, row + seen.count(), 0.0f);
    const float before = tile.greatest[r];
    if (!(greatest <= before)) {
      const float factor = before == -HUGE_VALF ? 0 : std::exp(before - greatest);
      tile.greatest[r] = greatest;
      tile.total[r] *= factor;
      scale_row(tile.sums + r * value_pitch, value_pitch, factor);
    }
    tile.total[r] += exp_of_scores(row, seen.count(), tile.greatest[r]);
    drop_shares(a, call, tile.head, tile.first + r, seen, row);
    round_away(dtype, row, seen.count());
  }

  // The part of a block that the tile sees, from a whole vector on.
  void add_block(const AttentionCall& call, Tile& tile, std::int64_t packed, KeyRange keys_seen,
                 std::int64_t first_of_block) const {
    const std::int64_t skipped = (keys_seen.first - first_of_block) / kCube * kCube;
    const KeyRange all{first_of_block + skipped, keys_seen.end};
    gemm({tile.count, round_up_to_cube(all.count()), a.size, a.size, kKeyBlock, kKeyBlock},
         tile.query, block_keys(packed) + skipped, tile.scores);
    for (std::int64_t r = 0; r < tile.count; ++r) {
      const KeyRange seen = common(all, a.visible(tile.head.sequence, tile.first + r));
      update_row(call, tile, r, all, seen, tile.scores + r * kKeyBlock);
    }
    gemm({tile.count, value_pitch, all.count(), kKeyBlock, value_pitch, value_pitch}, tile.scores,
         block_values(packed) + skipped * value_pitch, tile.sums, true);
  }

  void start(const KernelArgs& args, const AttentionCall& call, Tile& tile) const {
    const AttentionRows query{dtype, a.query, a.size};
    const AttentionSequence& s = tile.head.sequence;
    query.load(args.inputs[0], s.batch, tile.head.head, s.first_query + tile.first, tile.count,
               a.size, tile.query);
    const std::optional<float> sink = call.sink(tile.head.head);
    std::fill_n(tile.greatest, tile.count, sink.value_or(-HUGE_VALF));
    std::fill_n(tile.total, tile.count, sink ? 1.0f : 0.0f);
    std::fill_n(tile.sums, tile.count * value_pitch, 0.0f);
  }

  void finish(const KernelArgs& args, Tile& tile) const {
    for (std::int64_t r = 0; r < tile.count; ++r) {
      if (tile.greatest[r] == -HUGE_VALF) {
        tile.greatest[r] = kHiddenMax;
        tile.total[r] = kHiddenSum;
      }
      store_statistics(a, tile.head, tile.first + r, tile.greatest[r], tile.total[r], args);
      float* const row = tile.sums + r * value_pitch;
      scale_row(row, value_pitch, 1 / tile.total[r]);
      round_away(dtype, row, a.value_size);
    }
    const AttentionSequence& s = tile.head.sequence;
    const AttentionRows out{dtype, a.out, a.value_size};
    out.store(tile.sums, value_pitch, s.batch, tile.head.head, s.first_query + tile.first,
              tile.count, args.outputs[0]);
  }

  void attend(const KernelArgs& args, const AttentionCall& call, std::int64_t in_group,
              Tile& tile) const {
    const AttentionSequence& s = tile.head.sequence;
    thread_local AlignedFloats query, scores, sums;
    query.resize(kQueryTile * a.size);
    scores.resize(kQueryTile * kKeyBlock);
    sums.resize(kQueryTile * value_pitch);
    tile.query = query.data(), tile.scores = scores.data(), tile.sums = sums.data();
    start(args, call, tile);
    const KeyRange seen = visible_to(a, s, tile.first, tile.count);
    for (std::int64_t b = seen.first / kKeyBlock; b * kKeyBlock < seen.end; ++b) {
      const KeyRange part = common(seen, {b * kKeyBlock, (b + 1) * kKeyBlock});
      add_block(call, tile, block(in_group, tile.head.head / a.group(), b), part, b * kKeyBlock);
    }
    finish(args, tile);
  }

  void operator()(const KernelArgs& args) const {
    const AttentionCall call(a, args.inputs);
    if (a.is_packed) clear_outputs(problem, args);
    for_each_group(a, call, [&](const SequenceGroup& group) {
      pack(args, call, group);
      const std::int64_t tiles = tiles_of(group.sequence.queries);
      parallel_blocks(group.count * a.heads * tiles, [&](std::int64_t i) {
        const std::int64_t in_group = i / tiles / a.heads;
        Tile tile{{group.at(call, in_group), i / tiles % a.heads}, i % tiles * kQueryTile};
        tile.count = std::min(kQueryTile, tile.head.sequence.queries - tile.first);
        attend(args, call, in_group, tile);
      });
    });
  }
};

Kernel tiled(std::string_view op, std::string_view summary) {
  return {.op = op,
          .name = "flash_attention_score",
          .provider = Provider::npu,
          .summary = summary,
          .prepare = [](const Problem& problem) -> Launch {
            return [plan = std::make_shared<TiledAttention>(problem)](const KernelArgs& args) {
              (*plan)(args);
            };
          },
          .temporary_bytes =
              [](const Problem& problem) {
                const Attention a = attention_of(problem);
                return static_cast<std::size_t>(TiledAttention::key_rows(a) *
                                                (a.size + TiledAttention::value_pitch_of(a))) *
                       sizeof(float);
              }};
}

constexpr std::string_view kSummary =
    "FlashAttentionScore: blocks of keys with a running maximum and sum in fp32, shares rounded to "
    "the dtype (half away from zero)";

const RegisteredKernel kernels[] = {
    RegisteredKernel(tiled("flash_attention_score", kSummary)),
    RegisteredKernel(tiled("scaled_dot_product_attention", kSummary)),
};

}  // namespace
}  // namespace opbench
