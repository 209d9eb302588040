// The gradient of attention tile by tile: the shares of a tile of queries and a block of keys are
// computed again from the statistics of the rows, and added to the sums of both. The native variant
// rounds each step to the dtype, as a framework that composes it.
#include <cmath>
#include <memory>

#include "kernels/attention_tiles.h"

namespace opbench {
namespace {

struct TiledGradient {
  Problem problem;
  Attention a;
  bool composes;  // native
  DType dtype;
  TileFactors factors;
  std::int64_t pitch, value_pitch;  // in terms
  Scratch dq, delta;                // of all queries: [batch, heads, queries]

  static std::int64_t query_rows(const Attention& a) { return a.batch * a.heads * a.queries; }
  static std::int64_t pitch_of(const Attention& a) { return round_up_to_cube(a.size); }

  TiledGradient(const Problem& p, bool is_composition)
      : problem(p),
        a(attention_of(p)),
        composes(is_composition),
        dtype(p.inputs[0].dtype),
        factors(TileFactors::of(dtype)),
        pitch(pitch_of(a)),
        value_pitch(round_up_to_cube(a.value_size)),
        dq(query_rows(a) * pitch),
        delta(query_rows(a)) {}

  /// One call.
  struct Run {
    const KernelArgs& args;
    const AttentionCall& call;
    KeyStore store;
  };

  AttentionRows rows_of_query() const { return {dtype, a.query, a.size}; }

  std::int64_t row(const AttentionHead& h, std::int64_t i) const {
    return (h.sequence.batch * a.heads + h.head) * a.queries + h.sequence.first_query + i;
  }

  void load(const Run& run, QueryTile& tile) const {
    const AttentionSequence& s = tile.head.sequence;
    const auto load_rows = [&](const AttentionRows& rows, std::size_t input, std::int64_t terms,
                               AlignedFloats& left, AlignedFloats& right) {
      const std::int64_t words = factors.words(terms);
      left.resize(kQueryTile * words);
      right.resize(kQueryTile * terms);
      rows.load(factors, run.args.inputs[input], s.batch, tile.head.head,
                s.first_query + tile.first, tile.count, words, left.data());
      return factors.right(left.data(), tile.count, words, right.data());
    };
    tile.right_query = load_rows(rows_of_query(), 0, pitch, tile.query, tile.query_pairs);
    tile.right_dy = load_rows({dtype, a.out, a.value_size}, 3, value_pitch, tile.dy, tile.dy_pairs);
  }

  void load(const Run& run, const AttentionSequence& s, std::int64_t key_head,
            KeyTile& tile) const {
    tile.rows.resize(kKeyBlock * std::max(pitch, value_pitch));
    tile.pairs.resize(kKeyBlock * pitch);
    tile.keys.resize(kKeyBlock * a.size);
    tile.values.resize(kKeyBlock * a.value_size);
    tile.dk.resize(kKeyBlock * pitch);
    tile.dv.resize(kKeyBlock * value_pitch);
    for (AlignedFloats* scores : {&tile.shares, &tile.slopes, &tile.narrow, &tile.columns}) {
      scores->resize(kQueryTile * kKeyBlock);
    }
    const KeyRange all{tile.first, tile.first + tile.count};
    const std::int64_t words = factors.words(pitch), value_words = factors.words(value_pitch);
    run.store.load_values(factors, s, key_head, all, value_words, tile.rows.data());
    transpose_rows(tile.rows.data(), tile.count, factors.words(a.value_size), value_words,
                   kKeyBlock, tile.values.data());
    run.store.load_keys(factors, s, key_head, all, words, tile.rows.data());
    transpose_rows(tile.rows.data(), tile.count, factors.words(a.size), words, kKeyBlock,
                   tile.keys.data());
    tile.right_keys = factors.right(tile.rows.data(), tile.count, words, tile.pairs.data());
    std::fill_n(tile.dk.data(), kKeyBlock * pitch, 0.0f);
    std::fill_n(tile.dv.data(), kKeyBlock * value_pitch, 0.0f);
  }

  // P = exp(S - max)/sum, dS = P*(dP - delta) for one query; both rounded to the dtype. `x` and
  // `dx` have the products of all keys of the block.
  void finish_row(const Run& run, const QueryTile& tile, std::int64_t r, KeyRange block, float* x,
                  float* dx) const {
    const std::int64_t i = tile.first + r;
    const KeyRange seen = common(block, a.visible(tile.head.sequence, i));
    const std::int64_t count = seen.count();
    float *const p = x + seen.first - block.first, *const dp = dx + seen.first - block.first;
    for (const auto& [all, part] : {std::pair{x, p}, std::pair{dx, dp}}) {
      std::fill(all, part, 0.0f);
      std::fill(part + count, all + round_up_to_cube(block.count()), 0.0f);
    }
    if (count == 0) return;
    finish_scores(a, run.call, tile.head, i, seen, p);
    const RowStatistics of_row = statistics(a, tile.head, i, run.args);
    shares_of_scores(p, count, of_row.greatest, 1 / of_row.sum);
    const auto drop = [&](float* shares) { drop_shares(a, run.call, tile.head, i, seen, shares); };
    const auto slopes = [&] { gradient_of_scores(p, dp, count, delta.data()[row(tile.head, i)]); };
    if (composes) {
      round_stored(dtype, p, count);
      round_stored(dtype, dp, count);
      drop(dp);
      round_stored(dtype, dp, count);
      slopes();
      round_stored(dtype, dp, count);
      scale_row(dp, count, a.scale);
      round_stored(dtype, dp, count);
      drop(p);
      return round_stored(dtype, p, count);
    }
    drop(dp);
    slopes();
    round_away(dtype, dp, count);
    drop(p);
    round_away(dtype, p, count);
  }

  // Shares and slopes of all pairs of both tiles.
  void multiply(const Run& run, const QueryTile& queries, KeyTile& keys) const {
    const std::int64_t width = round_up_to_cube(keys.count);
    const auto product = [&](std::int64_t size, std::int64_t terms, const AlignedFloats& left,
                             const AlignedFloats& right, const AlignedFloats& to) {
      factors.multiply(
          {queries.count, width, factors.words(size), factors.words(terms), kKeyBlock, kKeyBlock},
          left.data(), right.data(), to.data());
    };
    product(a.size, pitch, queries.query, keys.keys, keys.shares);
    product(a.value_size, value_pitch, queries.dy, keys.values, keys.slopes);
    for (std::int64_t r = 0; r < queries.count; ++r) {
      finish_row(run, queries, r, {keys.first, keys.first + keys.count},
                 keys.shares.data() + r * kKeyBlock, keys.slopes.data() + r * kKeyBlock);
    }
  }

  // Shares or slopes as a left factor; the memory is that of the last one.
  TileFactors::Left left(const QueryTile& queries, const KeyTile& keys,
                         const AlignedFloats& x) const {
    return factors.left(x.data(), queries.count, keys.count, kKeyBlock, keys.narrow.data());
  }

  // to += x^T*right
  void add_transposed(const QueryTile& queries, const KeyTile& keys, const AlignedFloats& x,
                      const float* right, std::int64_t width, float* to) const {
    const auto columns = factors.left_transposed(left(queries, keys, x), queries.count, keys.count,
                                                 keys.columns.data());
    factors.multiply({keys.count, width, factors.words(queries.count), columns.pitch, width, width},
                     columns.words, right, to, true);
  }

  void add_keys(const QueryTile& queries, KeyTile& keys) const {
    add_transposed(queries, keys, keys.shares, queries.right_dy, value_pitch, keys.dv.data());
    add_transposed(queries, keys, keys.slopes, queries.right_query, pitch, keys.dk.data());
  }

  void add_queries(const QueryTile& queries, const KeyTile& keys) const {
    const auto slopes = left(queries, keys, keys.slopes);
    factors.multiply({queries.count, pitch, factors.words(keys.count), slopes.pitch, pitch, pitch},
                     slopes.words, keys.right_keys,
                     dq.data() + row(queries.head, queries.first) * pitch, true);
  }

  bool meet(const QueryTile& queries, const KeyTile& keys) const {
    const KeyRange seen = visible_to(a, queries.head.sequence, queries.first, queries.count);
    return common(seen, {keys.first, keys.first + keys.count}).count() > 0;
  }

  // A block of keys, with all queries that need it.
  void of_key_block(const Run& run, const AttentionSequence& s, std::int64_t key_head,
                    std::int64_t first, std::int64_t count, bool adds_to_queries) const {
    thread_local KeyTile keys;
    thread_local QueryTile queries;
    keys.first = first, keys.count = count;
    load(run, s, key_head, keys);
    for (std::int64_t head = key_head * a.group(); head < (key_head + 1) * a.group(); ++head) {
      queries.head = {s, head};
      for (queries.first = 0; queries.first < s.queries; queries.first += kQueryTile) {
        queries.count = std::min(kQueryTile, s.queries - queries.first);
        if (!meet(queries, keys)) continue;
        load(run, queries);
        multiply(run, queries, keys);
        add_keys(queries, keys);
        if (adds_to_queries) add_queries(queries, keys);
      }
    }
    scale_row(keys.dk.data(), keys.count * pitch, last_scale());
    const auto store = [&](const HeadRows& places, std::int64_t size, const AlignedFloats& sums,
                           std::int64_t apart, std::size_t output) {
      AttentionRows{dtype, places, size}.store(sums.data(), apart, s.batch, key_head,
                                               s.first_key + keys.first, keys.count,
                                               run.args.outputs[output]);
    };
    store(a.key, a.size, keys.dk, pitch, 1);
    store(a.value, a.value_size, keys.dv, value_pitch, 2);
  }

  // A composition scales the gradients of scores.
  float last_scale() const { return composes ? 1 : static_cast<float>(a.scale); }

  // A tile of queries, with all blocks of keys that it needs.
  void of_query_tile(const Run& run, const AttentionHead& h, std::int64_t first,
                     std::int64_t count) const {
    thread_local KeyTile keys;
    thread_local QueryTile queries;
    queries.head = h, queries.first = first, queries.count = count;
    load(run, queries);
    const AttentionSequence& s = h.sequence;
    for (keys.first = 0; keys.first < s.keys; keys.first += kKeyBlock) {
      keys.count = std::min(kKeyBlock, s.keys - keys.first);
      if (!meet(queries, keys)) continue;
      load(run, s, h.head / a.group(), keys);
      multiply(run, queries, keys);
      add_queries(queries, keys);
    }
  }

  // Calls body(head, first, count) for all tiles of queries.
  template <class Body>
  void for_each_query_tile(const AttentionCall& call, Body body) const {
    for_each_tile(
        call, a.heads, &AttentionSequence::queries, kQueryTile,
        [&](const AttentionSequence& s, std::int64_t head, std::int64_t first, std::int64_t count) {
          body(AttentionHead{s, head}, first, count);
        });
  }

  void start(const Run& run) const {
    for_each_query_tile(run.call,
                        [&](const AttentionHead& h, std::int64_t first, std::int64_t count) {
                          const std::int64_t at = row(h, first);
                          sum_products(a, dtype, h, first, count, run.args.inputs[3],
                                       run.args.inputs[a.result_input()], delta.data() + at);
                          std::fill_n(dq.data() + at * pitch, count * pitch, 0.0f);
                        });
  }

  void finish(const Run& run) const {
    for_each_query_tile(
        run.call, [&](const AttentionHead& h, std::int64_t first, std::int64_t count) {
          float* const sums = dq.data() + row(h, first) * pitch;
          scale_row(sums, count * pitch, last_scale());
          rows_of_query().store(sums, pitch, h.sequence.batch, h.head,
                                h.sequence.first_query + first, count, run.args.outputs[0]);
        });
    if (!a.has_sink) return;
    for (const AttentionSequence& s : run.call.sequences()) {
      for (std::int64_t head = 0; head < a.heads; ++head) {
        const AttentionHead h{s, head};
        add_sink_gradient(a, run.call, h, delta.data() + row(h, 0), run.args);
      }
    }
  }

  // A thread computes all pairs of a head of keys. With fewer heads than threads, the pairs are
  // computed twice, for blocks of keys and for tiles of queries; the sums have the same order.
  void multiply_all(const Run& run) const {
    const std::int64_t heads = a.sequences() * a.key_heads;
    if (heads >= thread_count()) {
      return parallel_blocks(heads, [&](std::int64_t i) {
        const AttentionSequence& s = run.call.sequence(i / a.key_heads);
        for (std::int64_t first = 0; first < s.keys; first += kKeyBlock) {
          of_key_block(run, s, i % a.key_heads, first, std::min(kKeyBlock, s.keys - first), true);
        }
      });
    }
    for_each_tile(run.call, a.key_heads, &AttentionSequence::keys, kKeyBlock,
                  [&](const AttentionSequence& s, std::int64_t key_head, std::int64_t first,
                      std::int64_t count) { of_key_block(run, s, key_head, first, count, false); });
    for_each_query_tile(run.call, [&](const AttentionHead& h, std::int64_t first,
                                      std::int64_t count) { of_query_tile(run, h, first, count); });
  }

  void operator()(const KernelArgs& args) const {
    const AttentionCall call(a, args.inputs);
    const Run run{args, call, {problem, a, call, args}};
    if (a.is_packed || a.has_sink) clear_outputs(problem, a, args);
    start(run);
    multiply_all(run);
    finish(run);
  }
};

template <bool kComposes>
Kernel backward(std::string_view op) {
  return {.op = op,
          .name = kComposes ? "native" : "flash_attention_score_grad",
          .family = kComposes ? "" : "flash_attention_score",
          .provider = kComposes ? Provider::framework : Provider::npu,
          .summary = kComposes
                         ? "tile by tile: shares, their gradients, three products; each rounded to "
                           "the dtype"
                         : "FlashAttentionScoreGrad: shares again from the statistics, tile by "
                           "tile; shares and slopes rounded to the dtype (half away from zero), "
                           "sums and scale in fp32",
          .prepare = [](const Problem& problem) -> Launch {
            return [plan = std::make_shared<TiledGradient>(problem, kComposes)](
                       const KernelArgs& args) { (*plan)(args); };
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
    RegisteredKernel(backward<true>("flash_attention_score_grad")),
    RegisteredKernel(backward<false>("flash_attention_score_grad")),
    RegisteredKernel(backward<true>("scaled_dot_product_attention_grad")),
    RegisteredKernel(backward<false>("scaled_dot_product_attention_grad")),
};

}  // namespace
}  // namespace opbench
