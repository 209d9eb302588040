// fused_infer_attention_score: a composition row by row, and the device's streamed form, which
// reads every key and value once for all heads that share it. Source: Dao 2023, arXiv:2307.08691;
// CANN FusedInferAttentionScore.
#include <algorithm>
#include <cmath>

#include "kernels/attention_lines.h"
#include "kernels/inference_call.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

using Of = InferenceAttention;

constexpr std::int64_t kQueryTile = 32;  // rows of queries that share the loads of a tile

// A row of queries as small operators: scores, scale, softmax and the product with the values. The
// shares are rounded to the dtype.
void composed_row(const InferenceSequence& of, std::int64_t head, std::int64_t row) {
  const std::int64_t keys = of.rows.keys, step = attention_step(keys),
                     query_width = of.query_step(), out_width = attention_step(of.of().value_width);
  thread_local AlignedFloats memory;
  memory.resize(query_width + out_width + step);
  float *const query = memory.data(), *const out = query + query_width,
               *const scores = out + out_width;
  std::fill_n(out, out_width, 0.0f);
  const std::int64_t key_head = head / of.of().group();
  const bool is_row = row < of.rows.queries && keys > 0;
  float sum = 0, greatest = -HUGE_VALF;
  if (is_row) {
    of.load_query(of.query_line(head, row), query);
    of.for_each_run(key_head, {0, keys}, [&](const KeyRun& run) {
      of.scores({query, 1, query_width}, run, {scores + run.key, 1, step});
    });
    scale_line(scores, keys, static_cast<float>(of.of().scale));
    of.hide(row, 0, keys, scores);
    greatest = greatest_score(scores, keys);
  }
  if (greatest > -HUGE_VALF) {
    sum = attention_exponentials(scores, keys, greatest);
    scale_line(scores, keys, 1 / sum);
    round_line(of.operands.dtype, scores, keys);
    of.for_each_run(key_head, {0, keys}, [&](const KeyRun& run) {
      add_attention_values({scores + run.key, 1, step},
                           of.lines(Of::kValue, run, of.of().value_width), {out, 1, out_width});
    });
  }
  of.store(head, row, out, 1, inference_lse(greatest, sum));
}

Launch composed(const Problem& problem) {
  return [operands = InferenceOperands(problem)](const KernelArgs& args) {
    operands.clear(args);
    const Of& of = operands.of;
    parallel_blocks(of.batch * of.heads, [&](std::int64_t unit) {
      const InferenceSequence sequence(operands, args, unit / of.heads);
      for (std::int64_t row = 0; row < sequence.row_count(); ++row) {
        composed_row(sequence, unit % of.heads, row);
      }
    });
  };
}

/// Rows of queries of all heads that share a head of keys, with running maxima and sums.
class Tile {
 public:
  Tile(const InferenceSequence& of, std::int64_t key_head, std::int64_t first_row,
       std::int64_t rows)
      : of_(of), key_head_(key_head), first_row_(first_row), count_(rows * of.of().group()) {
    const std::int64_t query_width = of.query_step(),
                       out_width = attention_step(of.of().value_width);
    thread_local AlignedFloats memory;
    memory.resize(count_ * (query_width + out_width + kKeyTile + kAttentionLanes));
    queries_ = {memory.data(), count_, query_width};
    out_ = {queries_.line(count_), count_, out_width};
    scores_ = {out_.line(count_), count_, kKeyTile};
    running_ = {scores_.line(count_), count_, kAttentionLanes};
    std::fill_n(out_.first, count_ * out_width, 0.0f);
    for (std::int64_t r = 0; r < count_; ++r) {
      of_.load_query(of_.query_line(head(r), row(r)), queries_.line(r));
      greatest(r) = -HUGE_VALF;
      sum(r) = 0;
    }
  }

  void run() {
    Of::Band all{of_.rows.keys, 0};
    for (std::int64_t r = 0; r < count_; r += of_.of().group()) {
      if (row(r) >= of_.rows.queries) continue;
      const Of::Band band = of_.of().band(of_.rows, row(r));
      all = {std::min(all.first, band.first), std::max(all.end, band.end)};
    }
    of_.for_each_run(key_head_, all, [&](const KeyRun& run) { add(run); });
    for (std::int64_t r = 0; r < count_; ++r) {
      of_.store(head(r), row(r), out_.line(r), sum(r) == 0 ? 1 : sum(r),
                inference_lse(greatest(r), sum(r)));
    }
  }

 private:
  std::int64_t head(std::int64_t r) const {
    return key_head_ * of_.of().group() + r % of_.of().group();
  }
  std::int64_t row(std::int64_t r) const { return first_row_ + r / of_.of().group(); }
  float& greatest(std::int64_t r) const { return running_.line(r)[0]; }
  float& sum(std::int64_t r) const { return running_.line(r)[1]; }

  void add(const KeyRun& run) {
    of_.scores(queries_, run, scores_);
    for (std::int64_t r = 0; r < count_; ++r) to_shares(r, run.key, run.count);
    add_attention_values(scores_, of_.lines(Of::kValue, run, of_.of().value_width), out_);
  }

  // The sum has the exponentials before they are rounded for the product with the values.
  void to_shares(std::int64_t r, std::int64_t key, std::int64_t count) {
    float* const scores = scores_.line(r);
    scale_line(scores, count, static_cast<float>(of_.of().scale));
    if (row(r) < of_.rows.queries) {
      of_.hide(row(r), key, count, scores);
    } else {
      std::fill_n(scores, count, -HUGE_VALF);
    }
    const float before = greatest(r), now = std::max(before, greatest_score(scores, count));
    if (now == -HUGE_VALF) return std::fill(scores, scores + count, 0.0f);
    const float kept = std::exp(before - now);
    sum(r) = sum(r) * kept + attention_exponentials(scores, count, now);
    if (kept != 1) scale_line(out_.line(r), out_.step, kept);
    greatest(r) = now;
    round_line(of_.operands.dtype, scores, count);
  }

  const InferenceSequence& of_;
  std::int64_t key_head_, first_row_, count_;
  FloatLines queries_, out_, scores_, running_;
};

Launch streamed(const Problem& problem) {
  return [operands = InferenceOperands(problem)](const KernelArgs& args) {
    operands.clear(args);
    const Of& of = operands.of;
    const std::int64_t rows = std::max<std::int64_t>(1, kQueryTile / of.group());
    const std::int64_t tiles = (of.most_queries + rows - 1) / rows;
    parallel_blocks(of.batch * of.key_heads * tiles, [&](std::int64_t unit) {
      const std::int64_t tile = unit % tiles, of_head = unit / tiles;
      const InferenceSequence sequence(operands, args, of_head / of.key_heads);
      const std::int64_t left = sequence.row_count() - tile * rows;
      if (left <= 0) return;
      Tile(sequence, of_head % of.key_heads, tile * rows, std::min(rows, left)).run();
    });
  };
}

Kernel native(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary =
              "row after row: scores, scale, softmax and the product with the values; shares "
              "rounded before that product",
          .prepare = composed};
}

Kernel device(std::string_view op) {
  return {.op = op,
          .name = "fused_infer_attention_score",
          .provider = Provider::npu,
          .summary =
              "FusedInferAttentionScore: streams keys and values once for all heads that "
              "share them; softmax in fp32, shares rounded before the product with the "
              "values",
          .prepare = streamed};
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(native("fused_infer_attention_score")),
    RegisteredKernel(device("fused_infer_attention_score")),
    RegisteredKernel(native("fused_infer_attention_score_kv_int8")),
    RegisteredKernel(device("fused_infer_attention_score_kv_int8")),
};

}  // namespace
}  // namespace opbench
