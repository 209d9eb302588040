// Attention as a framework composes it: all scores of a head in memory, and a pass for each
// operation, whose result is rounded to the dtype.
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/attention.h"
#include "kernels/simd/attention_rows.h"
#include "kernels/simd/gemm.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct Composition {
  Problem problem;
  Attention a;
  DType dtype;
  std::int64_t key_pitch, value_pitch;
  Scratch keys, values, scores;  // keys transposed

  static std::int64_t score_elements(const Attention& a) {
    return a.queries * round_up_to_cube(a.keys);
  }

  explicit Composition(const Problem& p)
      : problem(p),
        a(attention_of(p)),
        dtype(p.inputs[0].dtype),
        key_pitch(round_up_to_cube(a.keys)),
        value_pitch(round_up_to_cube(a.value_size)),
        keys(a.size * key_pitch),
        values(key_pitch * value_pitch),
        scores(score_elements(a)) {}

  // Calls body(first, count) for tiles of queries.
  template <class Body>
  void for_each_tile(const AttentionHead& h, Body body) const {
    const std::int64_t queries = h.sequence.queries;
    parallel_blocks((queries + kQueryTile - 1) / kQueryTile, [&](std::int64_t i) {
      const std::int64_t first = i * kQueryTile;
      body(first, std::min(kQueryTile, queries - first));
    });
  }
  template <class Body>
  void for_each_row(const AttentionHead& h, Body body) const {
    for_each_tile(h, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) body(i, scores.data() + i * key_pitch);
    });
  }

  void load_keys(const KernelArgs& args, const AttentionHead& h) const {
    const AttentionSequence& s = h.sequence;
    const std::int64_t head = h.head / a.group(), blocks = (s.keys + kCube - 1) / kCube;
    const AttentionRows key{dtype, a.key, a.size}, value{dtype, a.value, a.value_size};
    parallel_blocks(blocks, [&](std::int64_t b) {
      thread_local std::vector<float> rows;
      rows.resize(static_cast<std::size_t>(kCube * a.size));
      const std::int64_t first = b * kCube, count = std::min(kCube, s.keys - first);
      key.load(args.inputs[1], s.batch, head, s.first_key + first, count, a.size, rows.data());
      transpose_plane({sizeof(float), a.size, kCube, a.size, key_pitch, a.size, count, nullptr},
                      rows.data(), keys.data() + first, false);
      value.load(args.inputs[2], s.batch, head, s.first_key + first, count, value_pitch,
                 values.data() + first * value_pitch);
    });
  }

  void multiply_keys(const KernelArgs& args, const AttentionHead& h) const {
    const AttentionRows query{dtype, a.query, a.size};
    for_each_tile(h, [&](std::int64_t first, std::int64_t count) {
      thread_local std::vector<float> rows;
      rows.resize(static_cast<std::size_t>(kQueryTile * a.size));
      query.load(args.inputs[0], h.sequence.batch, h.head, h.sequence.first_query + first, count,
                 a.size, rows.data());
      gemm({count, round_up_to_cube(h.sequence.keys), a.size, a.size, key_pitch, key_pitch},
           rows.data(), keys.data(), scores.data() + first * key_pitch);
    });
  }

  // Scores are scaled and hidden. The statistics are those of the scores before they are rounded.
  void finish(const KernelArgs& args, const AttentionCall& call, const AttentionHead& h) const {
    for_each_row(h, [&](std::int64_t i, float* row) {
      const KeyRange seen = a.visible(h.sequence, i);
      finish_scores(a, call, h, i, seen, row + seen.first);
      std::fill(row, row + seen.first, -HUGE_VALF);
      std::fill(row + seen.end, row + key_pitch, -HUGE_VALF);
    });
    for_each_row(h, [&](std::int64_t i, float* row) {
      thread_local std::vector<float> copy;
      copy.assign(row, row + h.sequence.keys);
      const std::int64_t count = h.sequence.keys;
      const std::optional<float> sink = call.sink(h.head);
      float greatest = std::fmax(scale_scores(copy.data(), count, 1), sink.value_or(-HUGE_VALF));
      float sum = kHiddenSum;
      if (greatest == -HUGE_VALF) {
        greatest = kHiddenMax;
      } else {
        sum = exp_of_scores(copy.data(), count, greatest);
        if (sink) sum += std::exp(*sink - greatest);
      }
      store_statistics(a, h, i, greatest, sum, args);
      round_stored(dtype, row, count);
    });
  }

  void softmax(const AttentionCall& call, const AttentionHead& h) const {
    for_each_row(h, [&](std::int64_t, float* row) {
      const std::int64_t count = h.sequence.keys;
      const std::optional<float> sink = call.sink(h.head);
      const float greatest = std::fmax(scale_scores(row, count, 1), sink.value_or(-HUGE_VALF));
      if (greatest == -HUGE_VALF) return std::fill(row, row + count, 0.0f);
      const float sum = exp_of_scores(row, count, greatest);
      scale_row(row, count, 1 / (sum + (sink ? std::exp(*sink - greatest) : 0)));
      round_stored(dtype, row, count);
    });
    if (!a.has_drop) return;
    for_each_row(h, [&](std::int64_t i, float* row) {
      drop_shares(a, call, h, i, {0, h.sequence.keys}, row);
      round_stored(dtype, row, h.sequence.keys);
    });
  }

  void multiply_values(const KernelArgs& args, const AttentionHead& h) const {
    const AttentionRows out{dtype, a.out, a.value_size};
    for_each_tile(h, [&](std::int64_t first, std::int64_t count) {
      thread_local std::vector<float> sums;
      sums.resize(static_cast<std::size_t>(kQueryTile * value_pitch));
      gemm({count, value_pitch, h.sequence.keys, key_pitch, value_pitch, value_pitch},
           scores.data() + first * key_pitch, values.data(), sums.data());
      out.store(sums.data(), value_pitch, h.sequence.batch, h.head, h.sequence.first_query + first,
                count, args.outputs[0]);
    });
  }

  void operator()(const KernelArgs& args) const {
    const AttentionCall call(a, args.inputs);
    if (a.is_packed) clear_outputs(problem, args);
    for (std::int64_t n = 0; n < a.sequences(); ++n) {
      AttentionHead h{call.sequence(n)};
      for (h.head = 0; h.head < a.heads; ++h.head) {
        if (h.head % a.group() == 0) load_keys(args, h);
        multiply_keys(args, h);
        finish(args, call, h);
        softmax(call, h);
        multiply_values(args, h);
      }
    }
  }
};

Kernel composed(std::string_view op) {
  return {
      .op = op,
      .name = "native",
      .provider = Provider::framework,
      .summary =
          "head by head: scores, scale, mask, softmax, product; each rounded to the "
          "dtype",
      .prepare = [](const Problem& problem) -> Launch {
        return [plan = std::make_shared<Composition>(problem)](const KernelArgs& args) {
          (*plan)(args);
        };
      },
      .temporary_bytes =
          [](const Problem& problem) {
            return static_cast<std::size_t>(Composition::score_elements(attention_of(problem))) *
                   sizeof(float);
          }};
}

const RegisteredKernel kernels[] = {
    RegisteredKernel(composed("flash_attention_score")),
    RegisteredKernel(composed("scaled_dot_product_attention")),
};

}  // namespace
}  // namespace opbench
