// The gradient of attention tile by tile: the shares of a tile of queries and a block of keys are
// computed again from the statistics of the rows, and added to the sums of both.
#include <cmath>
#include <memory>

#include "kernels/attention.h"
#include "kernels/simd/attention_rows.h"
#include "kernels/simd/gemm.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// A tile of queries of one head in fp32.
struct QueryTile {
  AttentionHead head;
  std::int64_t first = 0, count = 0;
  AlignedFloats query, dy;
};

/// A block of keys in fp32, the sums of its gradients, and the shares of a tile.
struct KeyTile {
  std::int64_t first = 0, count = 0;
  AlignedFloats rows, keys, values;  // keys; keys and values transposed
  AlignedFloats dk, dv;
  AlignedFloats shares, slopes, columns;  // [queries, keys], and transposed
};

struct TiledGradient {
  Problem problem;
  Attention a;
  DType dtype;
  std::int64_t pitch, value_pitch;
  Scratch dq, delta;  // of all queries: [sequences, heads, queries]

  static std::int64_t query_rows(const Attention& a) {
    return (a.is_packed ? 1 : a.batch) * a.heads * a.queries;
  }
  static std::int64_t pitch_of(const Attention& a) { return round_up_to_cube(a.size); }

  explicit TiledGradient(const Problem& p)
      : problem(p),
        a(attention_of(p)),
        dtype(p.inputs[0].dtype),
        pitch(pitch_of(a)),
        value_pitch(round_up_to_cube(a.value_size)),
        dq(query_rows(a) * pitch),
        delta(query_rows(a)) {}

  AttentionRows key_rows() const { return {dtype, a.key, a.size}; }
  AttentionRows value_rows() const { return {dtype, a.value, a.value_size}; }
  AttentionRows rows_of_query() const { return {dtype, a.query, a.size}; }

  std::int64_t row(std::int64_t in_group, std::int64_t head, std::int64_t i) const {
    return (in_group * a.heads + head) * a.queries + i;
  }

  void load(const KernelArgs& args, QueryTile& tile) const {
    const AttentionSequence& s = tile.head.sequence;
    tile.query.resize(kQueryTile * pitch);
    tile.dy.resize(kQueryTile * value_pitch);
    const std::int64_t first = s.first_query + tile.first;
    rows_of_query().load(args.inputs[0], s.batch, tile.head.head, first, tile.count, pitch,
                         tile.query.data());
    AttentionRows{dtype, a.out, a.value_size}.load(args.inputs[3], s.batch, tile.head.head, first,
                                                   tile.count, value_pitch, tile.dy.data());
  }

  void load(const KernelArgs& args, const AttentionSequence& s, std::int64_t key_head,
            KeyTile& tile) const {
    tile.rows.resize(kKeyBlock * std::max(pitch, value_pitch));
    tile.keys.resize(kKeyBlock * a.size);
    tile.values.resize(kKeyBlock * a.value_size);
    tile.dk.resize(kKeyBlock * pitch);
    tile.dv.resize(kKeyBlock * value_pitch);
    for (AlignedFloats* scores : {&tile.shares, &tile.slopes, &tile.columns}) {
      scores->resize(kQueryTile * kKeyBlock);
    }
    const std::int64_t first = s.first_key + tile.first;
    value_rows().load(args.inputs[2], s.batch, key_head, first, tile.count, value_pitch,
                      tile.rows.data());
    transpose_rows(tile.rows.data(), tile.count, a.value_size, value_pitch, kKeyBlock,
                   tile.values.data());
    key_rows().load(args.inputs[1], s.batch, key_head, first, tile.count, pitch, tile.rows.data());
    transpose_rows(tile.rows.data(), tile.count, a.size, pitch, kKeyBlock, tile.keys.data());
    std::fill_n(tile.dk.data(), kKeyBlock * pitch, 0.0f);
    std::fill_n(tile.dv.data(), kKeyBlock * value_pitch, 0.0f);
  }

  // P = exp(S - max)/sum, dS = P*(dP - delta) for one query; both rounded to the dtype. `x` and
  // `dx` have the products of all keys of the block.
  void finish_row(const KernelArgs& args, const AttentionCall& call, const QueryTile& tile,
                  std::int64_t r, KeyRange block, float delta_of_row, float* x, float* dx) const {
    const std::int64_t i = tile.first + r;
    const KeyRange seen = common(block, a.visible(tile.head.sequence, i));
    float *const p = x + seen.first - block.first, *const dp = dx + seen.first - block.first;
    for (const auto& [all, part] : {std::pair{x, p}, std::pair{dx, dp}}) {
      std::fill(all, part, 0.0f);
      std::fill(part + seen.count(), all + round_up_to_cube(block.count()), 0.0f);
    }
    if (seen.count() == 0) return;
    finish_scores(a, call, tile.head, i, seen, p);
    const RowStatistics of_row = statistics(a, tile.head, i, args);
    shares_of_scores(p, seen.count(), of_row.greatest, 1 / of_row.sum);
    drop_shares(a, call, tile.head, i, seen, dp);
    gradient_of_scores(p, dp, seen.count(), delta_of_row);
    round_away(dtype, dp, seen.count());
    drop_shares(a, call, tile.head, i, seen, p);
    round_away(dtype, p, seen.count());
  }

  // Shares and slopes of all pairs of both tiles.
  void multiply(const KernelArgs& args, const AttentionCall& call, std::int64_t in_group,
                const QueryTile& queries, KeyTile& keys) const {
    const std::int64_t width = round_up_to_cube(keys.count);
    gemm({queries.count, width, a.size, pitch, kKeyBlock, kKeyBlock}, queries.query.data(),
         keys.keys.data(), keys.shares.data());
    gemm({queries.count, width, a.value_size, value_pitch, kKeyBlock, kKeyBlock}, queries.dy.data(),
         keys.values.data(), keys.slopes.data());
    for (std::int64_t r = 0; r < queries.count; ++r) {
      const float of_row = delta.data()[row(in_group, queries.head.head, queries.first + r)];
      finish_row(args, call, queries, r, {keys.first, keys.first + keys.count}, of_row,
                 keys.shares.data() + r * kKeyBlock, keys.slopes.data() + r * kKeyBlock);
    }
  }

  // to += x^T*right
  void add_transposed(const QueryTile& queries, const KeyTile& keys, const AlignedFloats& x,
                      const AlignedFloats& right, std::int64_t width, float* to) const {
    transpose_plane({sizeof(float), keys.count, queries.count, kKeyBlock, kQueryTile, keys.count,
                     queries.count, nullptr},
                    x.data(), keys.columns.data(), false);
    gemm({keys.count, width, queries.count, kQueryTile, width, width}, keys.columns.data(),
         right.data(), to, true);
  }

  void add_keys(const QueryTile& queries, KeyTile& keys) const {
    add_transposed(queries, keys, keys.shares, queries.dy, value_pitch, keys.dv.data());
    add_transposed(queries, keys, keys.slopes, queries.query, pitch, keys.dk.data());
  }

  void add_queries(std::int64_t in_group, const QueryTile& queries, const KeyTile& keys) const {
    gemm({queries.count, pitch, keys.count, kKeyBlock, pitch, pitch}, keys.slopes.data(),
         keys.rows.data(), dq.data() + row(in_group, queries.head.head, queries.first) * pitch,
         true);
  }

  bool meet(const QueryTile& queries, const KeyTile& keys) const {
    const KeyRange seen = visible_to(a, queries.head.sequence, queries.first, queries.count);
    return common(seen, {keys.first, keys.first + keys.count}).count() > 0;
  }

  // A block of keys, with all queries that need it.
  void of_key_block(const KernelArgs& args, const AttentionCall& call, std::int64_t in_group,
                    const AttentionSequence& s, std::int64_t key_head, std::int64_t number,
                    bool adds_to_queries) const {
    thread_local KeyTile keys;
    thread_local QueryTile queries;
    keys.first = number * kKeyBlock;
    keys.count = std::min(kKeyBlock, s.keys - keys.first);
    load(args, s, key_head, keys);
    for (std::int64_t head = key_head * a.group(); head < (key_head + 1) * a.group(); ++head) {
      queries.head = {s, head};
      for (queries.first = 0; queries.first < s.queries; queries.first += kQueryTile) {
        queries.count = std::min(kQueryTile, s.queries - queries.first);
        if (!meet(queries, keys)) continue;
        load(args, queries);
        multiply(args, call, in_group, queries, keys);
        add_keys(queries, keys);
        if (adds_to_queries) add_queries(in_group, queries, keys);
      }
    }
    scale_row(keys.dk.data(), keys.count * pitch, a.scale);
    key_rows().store(keys.dk.data(), pitch, s.batch, key_head, s.first_key + keys.first, keys.count,
                     args.outputs[1]);
    value_rows().store(keys.dv.data(), value_pitch, s.batch, key_head, s.first_key + keys.first,
                       keys.count, args.outputs[2]);
  }

  // A tile of queries, with all blocks of keys that it needs.
  void of_query_tile(const KernelArgs& args, const AttentionCall& call, std::int64_t in_group,
                     const AttentionHead& h, std::int64_t first, std::int64_t count) const {
    thread_local KeyTile keys;
    thread_local QueryTile queries;
    queries.head = h, queries.first = first, queries.count = count;
    load(args, queries);
    const AttentionSequence& s = h.sequence;
    for (keys.first = 0; keys.first < s.keys; keys.first += kKeyBlock) {
      keys.count = std::min(kKeyBlock, s.keys - keys.first);
      if (!meet(queries, keys)) continue;
      load(args, s, h.head / a.group(), keys);
      multiply(args, call, in_group, queries, keys);
      add_queries(in_group, queries, keys);
    }
  }

  // Calls body(in_group, head, first, count) for all tiles of queries.
  template <class Body>
  void for_each_tile(const AttentionCall& call, const SequenceGroup& group, Body body) const {
    const std::int64_t tiles = tiles_of(group.sequence.queries);
    parallel_blocks(group.count * a.heads * tiles, [&](std::int64_t i) {
      const std::int64_t in_group = i / tiles / a.heads, first = i % tiles * kQueryTile;
      const AttentionHead head{group.at(call, in_group), i / tiles % a.heads};
      body(in_group, head, first, std::min(kQueryTile, head.sequence.queries - first));
    });
  }

  void start(const KernelArgs& args, const AttentionCall& call, const SequenceGroup& group) const {
    for_each_tile(
        call, group,
        [&](std::int64_t in_group, const AttentionHead& h, std::int64_t first, std::int64_t count) {
          const std::int64_t at = row(in_group, h.head, first);
          sum_products(a, dtype, h, first, count, args.inputs[3], args.inputs[a.result_input()],
                       delta.data() + at);
          std::fill_n(dq.data() + at * pitch, count * pitch, 0.0f);
        });
  }

  void finish(const KernelArgs& args, const AttentionCall& call, const SequenceGroup& group) const {
    for_each_tile(
        call, group,
        [&](std::int64_t in_group, const AttentionHead& h, std::int64_t first, std::int64_t count) {
          float* const sums = dq.data() + row(in_group, h.head, first) * pitch;
          scale_row(sums, count * pitch, a.scale);
          rows_of_query().store(sums, pitch, h.sequence.batch, h.head,
                                h.sequence.first_query + first, count, args.outputs[0]);
        });
    for (std::int64_t i = 0; a.has_sink && i < group.count; ++i) {
      for (std::int64_t head = 0; head < a.heads; ++head) {
        add_sink_gradient(a, call, {group.at(call, i), head}, delta.data() + row(i, head, 0), args);
      }
    }
  }

  // A thread computes all pairs of a head of keys. With fewer heads than threads, the pairs are
  // computed twice, for blocks of keys and for tiles of queries; the sums have the same order.
  void multiply_all(const KernelArgs& args, const AttentionCall& call,
                    const SequenceGroup& group) const {
    const std::int64_t heads = group.count * a.key_heads,
                       parts = key_blocks_of(group.sequence.keys);
    const auto block = [&](std::int64_t head, std::int64_t number, bool adds_to_queries) {
      const std::int64_t in_group = head / a.key_heads;
      of_key_block(args, call, in_group, group.at(call, in_group), head % a.key_heads, number,
                   adds_to_queries);
    };
    if (heads >= thread_count()) {
      return parallel_blocks(heads, [&](std::int64_t head) {
        for (std::int64_t number = 0; number < parts; ++number) block(head, number, true);
      });
    }
    parallel_blocks(heads * parts, [&](std::int64_t i) { block(i / parts, i % parts, false); });
    for_each_tile(
        call, group,
        [&](std::int64_t in_group, const AttentionHead& h, std::int64_t first, std::int64_t count) {
          of_query_tile(args, call, in_group, h, first, count);
        });
  }

  void operator()(const KernelArgs& args) const {
    const AttentionCall call(a, args.inputs);
    if (a.is_packed || a.has_sink) clear_outputs(problem, args);
    for_each_group(a, call, [&](const SequenceGroup& group) {
      start(args, call, group);
      multiply_all(args, call, group);
      finish(args, call, group);
    });
  }
};

Kernel tiled(std::string_view op) {
  return {.op = op,
          .name = "flash_attention_score_grad",
          .family = "flash_attention_score",
          .provider = Provider::npu,
          .summary =
              "FlashAttentionScoreGrad: shares again from the statistics, tile by tile; "
              "shares and slopes rounded to the dtype (half away from zero), sums and scale "
              "in fp32",
          .prepare = [](const Problem& problem) -> Launch {
            return [plan = std::make_shared<TiledGradient>(problem)](const KernelArgs& args) {
              (*plan)(args);
            };
          },
          .temporary_bytes =
              [](const Problem& problem) {
                const Attention a = attention_of(problem);
                return static_cast<std::size_t>(TiledGradient::query_rows(a) *
                                                (TiledGradient::pitch_of(a) + 1)) *
                       sizeof(float);
              }};
}

const RegisteredKernel kernels[] = {
    RegisteredKernel(tiled("flash_attention_score_grad")),
    RegisteredKernel(tiled("scaled_dot_product_attention_grad")),
};

}  // namespace
}  // namespace opbench
