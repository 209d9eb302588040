// Attention as a framework composes it: all scores of a tile of queries, and a pass for each
// operation, whose result is rounded to the dtype.
#include <cmath>
#include <memory>

#include "kernels/attention_tiles.h"

namespace opbench {
namespace {

struct ComposedAttention : AttentionTiles {
  bool rounds_scores;  // those of inference stay in fp32

  explicit ComposedAttention(const Problem& p)
      : AttentionTiles(p), rounds_scores(p.op->ir_name != "FusedInferAttentionScore") {}

  // The scores of a row are scaled, hidden and rounded, and become shares, which are rounded. The
  // statistics are those of the scores before they are rounded.
  void compose_row(const Run& run, const Tile& tile, std::int64_t r, float* row) const {
    const std::int64_t count = tile.s.keys, i = tile.at(r);
    const AttentionHead head = tile.head(r);
    const KeyRange seen = a.visible(tile.s, i);
    finish_scores(a, run.call, head, i, seen, row + seen.first);
    std::fill(row, row + seen.first, -HUGE_VALF);
    std::fill(row + seen.end, row + count, -HUGE_VALF);
    thread_local AlignedFloats copy;
    copy.resize(count + 1);
    std::copy(row, row + count, copy.data());
    const std::optional<float> sink = run.call.sink(head.head);
    const auto exponentials = [&](float* x, float& greatest) {
      greatest = std::fmax(scale_scores(x, count, 1), sink.value_or(-HUGE_VALF));
      if (greatest == -HUGE_VALF) return kHiddenSum;
      return exp_of_scores(x, count, greatest) + (sink ? std::exp(*sink - greatest) : 0);
    };
    float greatest = 0, sum = exponentials(copy.data(), greatest);
    store_statistics(a, head, i, sum == kHiddenSum ? kHiddenMax : greatest, sum, run.args);
    if (sum == kHiddenSum) return std::fill(row, row + count, 0.0f);
    if (rounds_scores) round_stored(dtype, row, count);
    sum = exponentials(row, greatest);
    scale_row(row, count, 1 / sum);
    round_stored(dtype, row, count);
    drop_shares(a, run.call, head, i, {0, count}, row);
    if (a.has_drop) round_stored(dtype, row, count);
  }

  void compose(const Run& run, Tile& tile) const {
    const std::int64_t apart = round_up_to_cube(tile.s.keys);
    start(run, tile, apart);
    const auto for_each_block = [&](auto body) {
      for (std::int64_t first = 0; first < tile.s.keys; first += kKeyBlock) {
        body(KeyRange{first, std::min(first + kKeyBlock, tile.s.keys)}, tile.scores + first);
      }
    };
    for_each_block([&](KeyRange keys, float* x) { multiply_keys(run, tile, keys, apart, x); });
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      compose_row(run, tile, r, tile.scores + r * apart);
    }
    for_each_block([&](KeyRange keys, float* x) { add_values(run, tile, keys, apart, x); });
    store(run, tile);
  }

  void operator()(const KernelArgs& args) const {
    const AttentionCall call(a, args.inputs);
    const Run run{args, call, {problem, a, call, args}};
    if (a.is_packed || a.has_query_ends) clear_outputs(problem, a, args);
    for_each(call, [&](Tile& tile) { compose(run, tile); });
  }
};

Kernel composed(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary =
              "tile by tile: all scores, scale, mask, softmax, product; each rounded to the dtype "
              "(scores of inference stay in fp32)",
          .prepare = [](const Problem& problem) -> Launch {
            return [plan = std::make_shared<ComposedAttention>(problem)](const KernelArgs& args) {
              (*plan)(args);
            };
          }};
}

const RegisteredKernel kernels[] = {
    RegisteredKernel(composed("flash_attention_score")),
    RegisteredKernel(composed("scaled_dot_product_attention")),
    RegisteredKernel(composed("fused_infer_attention_score")),
    RegisteredKernel(composed("fused_infer_attention_score_kv_int8")),
};

}  // namespace
}  // namespace opbench
