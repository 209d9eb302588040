#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/attention_lines.h"
#include "kernels/index_at.h"
#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "ops/inference_attention.h"

namespace opbench {

inline constexpr std::int64_t kKeyTile = 64;  // keys whose scores are in the L1 cache

/// The sizes and dtypes of the operands.
struct InferenceOperands {
  using Of = InferenceAttention;

  Of of;
  DType dtype, query_lengths, key_lengths, table, scales;
  bool has_query_lengths, has_key_lengths, has_lse;
  std::size_t out_bytes;
  std::int64_t lse_count;

  explicit InferenceOperands(const Problem& problem)
      : of(problem.inputs, problem.attrs),
        dtype(problem.inputs[Of::kQuery].dtype),
        query_lengths(dtype_of(problem, Of::kQueryLengths)),
        key_lengths(dtype_of(problem, Of::kKeyLengths)),
        table(dtype_of(problem, Of::kBlockTable)),
        scales(dtype_of(problem, Of::kKeyScale)),
        has_query_lengths(is_given(problem.inputs, Of::kQueryLengths)),
        has_key_lengths(is_given(problem.inputs, Of::kKeyLengths)),
        has_lse(problem.outputs.size() > 1),
        out_bytes(problem.outputs[0].bytes()),
        lse_count(has_lse ? problem.outputs[1].elements() : 0) {}

  static DType dtype_of(const Problem& problem, std::size_t i) {
    return i < problem.inputs.size() ? problem.inputs[i].dtype : DType::int64;
  }

  SequenceRows sequence(const KernelArgs& args, std::int64_t b) const {
    return of.sequence(
        b, has_query_lengths,
        [&](std::int64_t i) { return index_at(query_lengths, args.inputs[Of::kQueryLengths], i); },
        has_key_lengths,
        [&](std::int64_t i) { return index_at(key_lengths, args.inputs[Of::kKeyLengths], i); });
  }

  // Packed tokens after the last sequence belong to no row.
  void clear(const KernelArgs& args) const {
    if (!of.is_packed) return;
    std::fill_n(static_cast<std::byte*>(args.outputs[0]), out_bytes, std::byte{0});
    if (has_lse) std::fill_n(static_cast<float*>(args.outputs[1]), lse_count, HUGE_VALF);
  }
};

/// Neighbouring keys of a head in one block: the first key, its line, and their number.
struct KeyRun {
  std::int64_t head, key, line, count;
};

/// One sequence in one call.
struct InferenceSequence {
  using Of = InferenceAttention;

  const InferenceOperands& operands;
  const KernelArgs& args;
  std::int64_t b;
  SequenceRows rows;

  InferenceSequence(const InferenceOperands& from, const KernelArgs& of_call, std::int64_t batch)
      : operands(from), args(of_call), b(batch), rows(from.sequence(of_call, batch)) {}

  const Of& of() const { return operands.of; }
  /// fp32 elements of a query.
  std::int64_t query_step() const {
    return attention_step(of().width) + attention_step(of().rope_width);
  }
  /// Rows that have an output.
  std::int64_t row_count() const { return of().is_packed ? rows.queries : of().most_queries; }
  std::int64_t query_line(std::int64_t head, std::int64_t row) const {
    return of().query.at(of().is_packed ? 0 : b, head, rows.first_query + row);
  }

  /// Loads a query, and its part for rope after it.
  void load_query(std::int64_t line, float* to) const {
    const auto load = [&](std::size_t input, std::int64_t width, float* part) {
      load_query_line(operands.dtype, at(args.inputs[input], operands.dtype, line * width), width,
                      part);
    };
    load(Of::kQuery, of().width, to);
    if (of().rope_width > 0) {
      load(Of::kQueryRope, of().rope_width, to + attention_step(of().width));
    }
  }

  /// `count` lines of keys or values of `run`.
  KeyLines lines(std::size_t input, const KeyRun& run, std::int64_t width) const {
    if (of().is_quantised && input != Of::kKeyRope) return dequantised(input, run, width);
    return {operands.dtype, at(args.inputs[input], operands.dtype, run.line * width), run.count,
            width, of().key.row * width};
  }

  // Rounded to the dtype of the queries, in memory of the thread until the next call.
  KeyLines dequantised(std::size_t input, const KeyRun& run, std::int64_t width) const {
    thread_local AlignedFloats memory;
    memory.resize(run.count * width + 1);
    const auto* const from = static_cast<const std::int8_t*>(args.inputs[input]) + run.line * width;
    const std::size_t scales = input == Of::kKey ? Of::kKeyScale : Of::kValueScale;
    float* to = memory.data();
    for (std::int64_t k = 0; k < run.count; ++k, to += width) {
      const std::int64_t first = of().scale_at(b, run.head, width, run.key + k, 0);
      const bool by_key = of().scale_batch > 0;
      load_floats(operands.scales, at(args.inputs[scales], operands.scales, first),
                  by_key ? 1 : width, to);
      if (by_key) std::fill_n(to + 1, width - 1, to[0]);
      for (std::int64_t i = 0; i < width; ++i) {
        to[i] *= static_cast<float>(from[k * of().key.row * width + i]);
      }
      round_line(operands.dtype, to, width);
    }
    return {DType::fp32, memory.data(), run.count, width, width};
  }

  /// Calls body(run) for runs of at most kKeyTile keys in one block.
  template <class Body>
  void for_each_run(std::int64_t key_head, Of::Band keys, Body body) const {
    for (std::int64_t key = keys.first; key < keys.end;) {
      std::int64_t count = std::min(kKeyTile, keys.end - key), outer = of().is_packed ? 0 : b,
                   place = rows.first_key + key;
      if (of().block_size > 0) {
        place = key % of().block_size;
        count = std::min(count, of().block_size - place);
        outer = index_at(operands.table, args.inputs[Of::kBlockTable],
                         b * of().most_blocks + key / of().block_size);
      }
      body(KeyRun{key_head, key, of().key.at(outer, key_head, place), count});
      key += count;
    }
  }

  void scores(const FloatLines& queries, const KeyRun& run, const FloatLines& to) const {
    attention_scores(queries, lines(Of::kKey, run, of().width), to, false);
    if (of().rope_width == 0) return;
    const FloatLines rope{queries.first + attention_step(of().width), queries.count, queries.step};
    attention_scores(rope, lines(Of::kKeyRope, run, of().rope_width), to, true);
  }

  /// Hides the scores of keys from `first` on that row `row` does not see.
  void hide(std::int64_t row, std::int64_t first, std::int64_t count, float* scores) const {
    const Of::Band band = of().band(rows, row);
    const std::int64_t begin = std::clamp<std::int64_t>(band.first - first, 0, count),
                       end = std::clamp<std::int64_t>(band.end - first, begin, count);
    std::fill_n(scores, begin, -HUGE_VALF);
    std::fill_n(scores + end, count - end, -HUGE_VALF);
    if (of().mask_width == 0) return;
    const auto* const hidden = static_cast<const std::uint8_t*>(args.inputs[Of::kMask]) +
                               b * of().mask_batch + row * of().mask_width + first;
    for (std::int64_t k = begin; k < end; ++k) {
      if (hidden[k] != 0) scores[k] = -HUGE_VALF;
    }
  }

  /// Writes a row: its values over `divisor`, and the logarithm of the sum.
  void store(std::int64_t head, std::int64_t row, const float* values, float divisor,
             float lse) const {
    const std::int64_t width = of().value_width;
    divide_line(operands.dtype, values, width, divisor,
                at(args.outputs[0], operands.dtype, query_line(head, row) * width));
    if (!operands.has_lse) return;
    const std::int64_t place = of().lse.at(of().is_packed ? 0 : b, head, rows.first_query + row);
    static_cast<float*>(args.outputs[1])[place] = lse;
  }
};

/// The logarithm of a row's sum. A sum of 0: the row has no keys.
inline float inference_lse(float greatest, float sum) {
  return sum == 0 ? HUGE_VALF : greatest + std::log(sum);
}

}  // namespace opbench
