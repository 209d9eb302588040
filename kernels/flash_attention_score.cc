// Attention of training and inference, tile by tile, without a matrix of all scores. A tile has
// queries of all heads that share a head of keys. Source: Dao 2023, arXiv:2307.08691.
#include <cmath>
#include <memory>

#include "kernels/attention_tiles.h"

namespace opbench {
namespace {

/// Keys whose sums are separate, if the queries of a sequence are one tile: a step of decoding has
/// too few heads for all threads.
constexpr std::int64_t kKeyPart = 1024;

struct StreamedAttention : AttentionTiles {
  std::int64_t parts;
  Scratch sums;  // of the parts of all tiles

  static std::int64_t parts_of(const Attention& a) {
    const bool is_split = !a.is_packed && a.queries <= queries_of(a);
    return is_split ? std::max<std::int64_t>(1, (a.keys + kKeyPart - 1) / kKeyPart) : 1;
  }
  static std::int64_t scratch_elements(const Attention& a) {
    const std::int64_t parts = parts_of(a);
    return parts == 1 ? 0 : a.batch * a.key_heads * parts * tile_sums(a);
  }

  explicit StreamedAttention(const Problem& p)
      : AttentionTiles(p), parts(parts_of(a)), sums(scratch_elements(a)) {}

  // Scores of keys `all` become shares of the greatest score so far. The sums so far are scaled to
  // it.
  void update_row(const Run& run, Tile& tile, std::int64_t r, KeyRange all, float* x) const {
    const AttentionHead head = tile.head(r);
    const KeyRange seen = common(all, a.visible(tile.s, tile.at(r)));
    float* const row = x + seen.first - all.first;
    std::fill(x, row, 0.0f);
    std::fill(row + seen.count(), x + all.count(), 0.0f);
    if (seen.count() == 0) return;
    float greatest = 0;
    if (a.has_shift || a.has_mask) {
      finish_scores(a, run.call, head, tile.at(r), seen, row);
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
    drop_shares(a, run.call, head, tile.at(r), seen, row);
    round_away(dtype, row, seen.count());
  }

  // A running maximum and sum over `part` of the keys. The first part has the sink.
  void stream(const Run& run, Tile& tile, KeyRange part) const {
    start(run, tile, kKeyBlock);
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const std::optional<float> sink =
          part.first == 0 ? run.call.sink(tile.head(r).head) : std::nullopt;
      tile.greatest[r] = sink.value_or(-HUGE_VALF);
      tile.total[r] = sink ? 1.0f : 0.0f;
    }
    const KeyRange seen = common(part, visible_to(a, tile.s, tile.first, tile.queries));
    for (KeyRange block = seen; block.first < seen.end; block.first = block.end) {
      block.end = std::min(block.first + kKeyBlock, seen.end);
      multiply_keys(run, tile, block, kKeyBlock, tile.scores);
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        update_row(run, tile, r, block, tile.scores + r * kKeyBlock);
      }
      add_values(run, tile, block, kKeyBlock, tile.scores);
    }
  }

  void finish(const Run& run, Tile& tile) const {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      if (tile.greatest[r] == -HUGE_VALF) {
        tile.greatest[r] = kHiddenMax;
        tile.total[r] = kHiddenSum;
      }
      store_statistics(a, tile.head(r), tile.at(r), tile.greatest[r], tile.total[r], run.args);
      float* const row = tile.sums + r * value_pitch;
      scale_row(row, value_pitch, 1 / tile.total[r]);
      round_away(dtype, row, a.value_size);
    }
    store(run, tile);
  }

  // The sums of all parts, scaled to the greatest maximum.
  void join(const Tile& tile, const float* memory) const {
    const std::int64_t apart = tile_sums(a);
    thread_local AlignedFloats of_parts;
    of_parts.resize(parts);
    float* const factor = of_parts.data();
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const float* const greatest = memory + tile.rows * value_pitch + r;
      const float* const total = greatest + tile.rows;
      float most = -HUGE_VALF, sum = 0;
      for (std::int64_t p = 0; p < parts; ++p) most = std::max(most, greatest[p * apart]);
      for (std::int64_t p = 0; p < parts; ++p) {
        factor[p] = most == -HUGE_VALF ? 0 : std::exp(greatest[p * apart] - most);
        sum += factor[p] * total[p * apart];
      }
      tile.greatest[r] = most, tile.total[r] = sum;
      gemm({1, value_pitch, parts, parts, apart, value_pitch}, factor, memory + r * value_pitch,
           tile.sums + r * value_pitch);
    }
  }

  void stream_in_parts(const Run& run) const {
    const std::int64_t apart = tile_sums(a);
    const auto tile_of = [&](std::int64_t i) {
      const AttentionSequence& s = run.call.sequence(i / a.key_heads);
      return Tile{s, i % a.key_heads, a.group(), 0, s.queries};
    };
    parallel_blocks(a.batch * a.key_heads * parts, [&](std::int64_t i) {
      Tile tile = tile_of(i / parts);
      use_sums(tile, sums.data() + i * apart);
      const std::int64_t first = i % parts * kKeyPart;
      stream(run, tile, {first, first + kKeyPart});
    });
    parallel_blocks(a.batch * a.key_heads, [&](std::int64_t i) {
      Tile tile = tile_of(i);
      use_own_sums(tile);
      join(tile, sums.data() + i * parts * apart);
      finish(run, tile);
    });
  }

  void operator()(const KernelArgs& args) const {
    const AttentionCall call(a, args.inputs);
    const Run run{args, call, {problem, a, call, args}};
    if (a.is_packed || a.has_query_ends) clear_outputs(problem, a, args);
    if (parts > 1) return stream_in_parts(run);
    for_each(call, [&](Tile& tile) {
      stream(run, tile, {0, tile.s.keys});
      finish(run, tile);
    });
  }
};

Kernel streamed(std::string_view op, std::string_view name, std::string_view summary) {
  return {.op = op,
          .name = name,
          .provider = Provider::npu,
          .summary = summary,
          .prepare = [](const Problem& problem) -> Launch {
            return [plan = std::make_shared<StreamedAttention>(problem)](const KernelArgs& args) {
              (*plan)(args);
            };
          },
          .temporary_bytes =
              [](const Problem& problem) {
                const Attention a = attention_of(problem);
                return std::size_t(StreamedAttention::scratch_elements(a)) * sizeof(float);
              }};
}

constexpr std::string_view kTraining =
    "FlashAttentionScore: blocks of keys with a running maximum and sum in fp32, shares rounded to "
    "the dtype (half away from zero)";
constexpr std::string_view kInference =
    "FusedInferAttentionScore: streams keys and values once for all heads that share them, parts "
    "of long caches on all threads; arithmetic of FlashAttentionScore";

const RegisteredKernel kernels[] = {
    RegisteredKernel(streamed("flash_attention_score", "flash_attention_score", kTraining)),
    RegisteredKernel(streamed("scaled_dot_product_attention", "flash_attention_score", kTraining)),
    RegisteredKernel(
        streamed("fused_infer_attention_score", "fused_infer_attention_score", kInference)),
    RegisteredKernel(
        streamed("fused_infer_attention_score_kv_int8", "fused_infer_attention_score", kInference)),
};

}  // namespace
}  // namespace opbench
