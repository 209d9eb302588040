#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/copy/plane.h"
#include "kernels/kernel.h"
#include "kernels/simd/attention_rows.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/tile_factors.h"
#include "ops/attention.h"
#include "tensor/parallel.h"

namespace opbench {

/// Queries that are computed together.
inline constexpr std::int64_t kQueryTile = 64;
/// Keys that are computed together: whole panels of gemm; their scores stay in the L2 cache.
inline constexpr std::int64_t kKeyBlock = 192;

/// A head of one sequence.
struct AttentionHead {
  AttentionSequence sequence;
  std::int64_t head = 0;
};

/// Rows of a head: of query, key, value, their gradients or the output.
struct AttentionRows {
  DType dtype;
  HeadRows places;
  std::int64_t size;

  /// Loads rows as factors, `pitch` words apart. Words up to `pitch` become 0.
  void load(const TileFactors& factors, const void* from, std::int64_t batch, std::int64_t head,
            std::int64_t first, std::int64_t count, std::int64_t pitch, float* to) const {
    for (std::int64_t r = 0; r < count; ++r, to += pitch) {
      factors.load(dtype, at(from, dtype, places.at(batch, head, first + r)), size, to);
      std::fill(to + factors.words(size), to + pitch, 0.0f);
    }
  }
  /// Stores rows, rounded to nearest even.
  void store(const float* from, std::int64_t pitch, std::int64_t batch, std::int64_t head,
             std::int64_t first, std::int64_t count, void* to) const {
    for (std::int64_t r = 0; r < count; ++r) {
      store_floats(dtype, from + r * pitch, size, at(to, dtype, places.at(batch, head, first + r)));
    }
  }
};

/// Keys and values of one call as rows of factors, from tensors with a batch, packed sequences,
/// pages, or int8 with scales.
class KeyStore {
 public:
  KeyStore(const Problem& problem, const Attention& of, const AttentionCall& call,
           const KernelArgs& args)
      : problem_(&problem), of_(&of), call_(&call), args_(&args) {}

  /// Both parts of keys `pitch` words apart, and zeros behind them.
  void load_keys(const TileFactors& factors, const AttentionSequence& s, std::int64_t key_head,
                 KeyRange keys, std::int64_t pitch, float* to) const;
  void load_values(const TileFactors& factors, const AttentionSequence& s, std::int64_t key_head,
                   KeyRange keys, std::int64_t pitch, float* to) const;

  /// True if keys and values lie in memory as rows of whole vectors.
  bool has_lines() const {
    return !of_->is_quantised && of_->rope_size == 0 && of_->size % kCube == 0 &&
           of_->value_size % kCube == 0;
  }
  /// Calls body(lines, offset in keys) for runs of the keys of input 1, or the values of input 2.
  template <class Body>
  void for_each_lines(std::size_t input, const AttentionSequence& s, std::int64_t key_head,
                      KeyRange keys, Body body) const {
    const HeadRows& places = input == 1 ? of_->key : of_->value;
    const std::int64_t size = input == 1 ? of_->size : of_->value_size;
    const DType dtype = problem_->inputs[input].dtype;
    call_->for_each_run(s, keys, [&](const KeyRun& run) {
      const std::int64_t first = places.at(run.batch, key_head, run.row);
      body(KeyLines{dtype, at(args_->inputs[input], dtype, first), run.count, size, places.row},
           run.key - keys.first);
    });
  }

 private:
  struct Part {
    std::size_t input, scales;  // of int8
    HeadRows places;
    std::int64_t size;
    std::int64_t first = 0;  // element of a loaded row
  };
  void load(const TileFactors& factors, const Part& part, const AttentionSequence& s,
            std::int64_t key_head, KeyRange keys, std::int64_t pitch, float* to) const;
  void load_scaled(const Part& part, const AttentionSequence& s, std::int64_t key_head,
                   std::int64_t key, std::int64_t place, float* to) const;

  const Problem* problem_;
  const Attention* of_;
  const AttentionCall* call_;
  const KernelArgs* args_;
};

/// Transposes `count` rows of `size` words, `apart` words apart: to[d * pitch + r]. Columns
/// up to a multiple of kCube become 0.
inline void transpose_rows(const float* rows, std::int64_t count, std::int64_t size,
                           std::int64_t apart, std::int64_t pitch, float* to) {
  transpose_plane(
      {sizeof(float), size, round_up_to_cube(count), apart, pitch, size, count, nullptr}, rows, to,
      false);
}

/// Stores the maximum and the sum of row `i` of a head, or the logarithm of the sum of
/// exponentials.
void store_statistics(const Attention& a, const AttentionHead& h, std::int64_t i, float greatest,
                      float sum, const KernelArgs& args);

/// Calls body(sequence, head, first, count) on all threads for tiles of up to `most` of `rows` rows
/// of each sequence.
template <class Body>
void for_each_tile(const AttentionCall& call, std::int64_t heads,
                   std::int64_t AttentionSequence::*rows, std::int64_t most, Body body) {
  std::int64_t tiles = 0;
  for (const AttentionSequence& s : call.sequences()) {
    tiles = std::max(tiles, (s.*rows + most - 1) / most);
  }
  const auto sequences = std::ssize(call.sequences());
  parallel_blocks(sequences * heads * tiles, [&](std::int64_t i) {
    const AttentionSequence& s = call.sequence(i / tiles / heads);
    const std::int64_t first = i % tiles * most;
    if (first < s.*rows) body(s, i / tiles % heads, first, std::min(most, s.*rows - first));
  });
}

/// The keys that some of the queries [first, first + count) see without a mask.
inline KeyRange visible_to(const Attention& a, const AttentionSequence& s, std::int64_t first,
                           std::int64_t count) {
  KeyRange seen{s.keys, 0};
  for (std::int64_t i = first; i < first + count; ++i) {
    const KeyRange one = a.visible(s, i);
    if (one.count() == 0) continue;
    seen = {std::min(seen.first, one.first), std::max(seen.end, one.end)};
  }
  return seen;
}

/// The keys of both ranges; without any, the empty range at the start of the first one.
inline KeyRange common(KeyRange a, KeyRange b) {
  const KeyRange both{std::max(a.first, b.first), std::min(a.end, b.end)};
  return both.count() > 0 ? both : KeyRange{a.first, a.first};
}

/// Adds the shift of a row, hides pairs with -Inf, and applies the scale. `x` has the products of
/// query `i` with `keys`.
void finish_scores(const Attention& a, const AttentionCall& call, const AttentionHead& h,
                   std::int64_t i, KeyRange keys, float* x);

/// Multiplies the shares of query `i` and `keys` by the mask of dropout.
void drop_shares(const Attention& a, const AttentionCall& call, const AttentionHead& h,
                 std::int64_t i, KeyRange keys, float* x);

/// Rounds to nearest even, as results that are stored in the dtype.
void round_stored(DType dtype, float* x, std::int64_t count);

/// delta = the sum of dy*out of queries [first, first + count) of a head.
void sum_products(const Attention& a, DType dtype, const AttentionHead& h, std::int64_t first,
                  std::int64_t count, const void* dy, const void* out, float* delta);

/// The maximum and the sum of row `i` of a head, from the inputs of the gradient. A logarithm of
/// the sum of exponentials is a maximum with a sum of 1. -Inf or a sum of 0 is a row without keys.
struct RowStatistics {
  float greatest, sum;
};
inline RowStatistics statistics(const Attention& a, const AttentionHead& h, std::int64_t i,
                                const KernelArgs& args) {
  const std::int64_t place = a.statistics.at(h.sequence.batch, h.head, h.sequence.first_query + i);
  const auto number = [&](std::size_t input) {
    return static_cast<const float*>(args.inputs[input])[place];
  };
  const RowStatistics row{number(4), a.gives_logsumexp ? 1 : number(5)};
  const bool has_no_keys = row.greatest == -HUGE_VALF || row.sum == 0;
  return has_no_keys ? RowStatistics{HUGE_VALF, 1} : row;
}

/// Adds the part of a sequence to the gradient of a head's sink, which is output 3: -sum over its
/// rows of exp(sink - max)/sum*delta.
void add_sink_gradient(const Attention& a, const AttentionCall& call, const AttentionHead& h,
                       const float* delta, const KernelArgs& args);

/// Results of rows that may belong to no sequence: zeros, and the statistics of hidden rows.
void clear_outputs(const Problem& problem, const Attention& a, const KernelArgs& args);

}  // namespace opbench
