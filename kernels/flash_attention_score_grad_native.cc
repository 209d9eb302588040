// The gradient of attention as a framework composes it: all shares of a head and their gradients in
// memory, and a pass for each operation, whose result is rounded to the dtype.
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/attention.h"
#include "kernels/simd/attention_rows.h"
#include "kernels/simd/gemm.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// Rows of a head in fp32, or their transpose.
struct LoadedHead {
  std::int64_t pitch;
  Scratch rows;

  LoadedHead(std::int64_t count, std::int64_t size)
      : pitch(round_up_to_cube(size)), rows(count * pitch) {}
};

struct GradientComposition {
  Problem problem;
  Attention a;
  DType dtype;
  std::int64_t key_pitch;
  LoadedHead query, key, dy, dk, dv;
  Scratch keys, values;    // transposed
  Scratch shares, slopes;  // [queries, keys]
  Scratch delta;

  static std::int64_t score_elements(const Attention& a) {
    return a.queries * round_up_to_cube(a.keys);
  }

  explicit GradientComposition(const Problem& p)
      : problem(p),
        a(attention_of(p)),
        dtype(p.inputs[0].dtype),
        key_pitch(round_up_to_cube(a.keys)),
        query(a.queries, a.size),
        key(a.keys, a.size),
        dy(a.queries, a.value_size),
        dk(a.keys, a.size),
        dv(a.keys, a.value_size),
        keys(a.size * key_pitch),
        values(a.value_size * key_pitch),
        shares(score_elements(a)),
        slopes(score_elements(a)),
        delta(a.queries) {}

  AttentionRows key_rows() const { return {dtype, a.key, a.size}; }
  AttentionRows value_rows() const { return {dtype, a.value, a.value_size}; }

  // Calls body(first, count) for tiles of `rows` rows.
  template <class Body>
  static void for_each_tile(std::int64_t rows, Body body) {
    parallel_blocks((rows + kQueryTile - 1) / kQueryTile, [&](std::int64_t i) {
      const std::int64_t first = i * kQueryTile;
      body(first, std::min(kQueryTile, rows - first));
    });
  }

  void load_keys(const KernelArgs& args, const AttentionHead& h) const {
    const AttentionSequence& s = h.sequence;
    const std::int64_t head = h.head / a.group();
    for_each_tile(s.keys, [&](std::int64_t first, std::int64_t count) {
      thread_local std::vector<float> rows;
      rows.resize(static_cast<std::size_t>(kQueryTile * std::max(a.size, a.value_size)));
      const auto transpose = [&](std::int64_t size, float* to) {
        const std::int64_t width = round_up_to_cube(count);
        transpose_plane({sizeof(float), size, width, size, key_pitch, size, count, nullptr},
                        rows.data(), to + first, false);
      };
      key_rows().load(args.inputs[1], s.batch, head, s.first_key + first, count, a.size,
                      rows.data());
      transpose(a.size, keys.data());
      value_rows().load(args.inputs[2], s.batch, head, s.first_key + first, count, a.value_size,
                        rows.data());
      transpose(a.value_size, values.data());
      key_rows().load(args.inputs[1], s.batch, head, s.first_key + first, count, key.pitch,
                      key.rows.data() + first * key.pitch);
      std::memset(dk.rows.data() + first * dk.pitch, 0,
                  std::size_t(count * dk.pitch) * sizeof(float));
      std::memset(dv.rows.data() + first * dv.pitch, 0,
                  std::size_t(count * dv.pitch) * sizeof(float));
    });
  }

  void load_queries(const KernelArgs& args, const AttentionHead& h) const {
    const AttentionSequence& s = h.sequence;
    for_each_tile(s.queries, [&](std::int64_t first, std::int64_t count) {
      const AttentionRows q{dtype, a.query, a.size}, g{dtype, a.out, a.value_size};
      q.load(args.inputs[0], s.batch, h.head, s.first_query + first, count, query.pitch,
             query.rows.data() + first * query.pitch);
      g.load(args.inputs[3], s.batch, h.head, s.first_query + first, count, dy.pitch,
             dy.rows.data() + first * dy.pitch);
      sum_products(a, dtype, h, first, count, args.inputs[3], args.inputs[a.result_input()],
                   delta.data() + first);
    });
  }

  // One pass for each product of all pairs.
  void multiply(const AttentionHead& h, const LoadedHead& left, std::int64_t terms,
                const Scratch& right, const Scratch& to) const {
    for_each_tile(h.sequence.queries, [&](std::int64_t first, std::int64_t count) {
      gemm({count, round_up_to_cube(h.sequence.keys), terms, left.pitch, key_pitch, key_pitch},
           left.rows.data() + first * left.pitch, right.data(), to.data() + first * key_pitch);
    });
  }

  template <class Body>
  void for_each_row(const AttentionHead& h, Body body) const {
    for_each_tile(h.sequence.queries, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        body(i, shares.data() + i * key_pitch, slopes.data() + i * key_pitch);
      }
    });
  }

  void make_shares(const KernelArgs& args, const AttentionCall& call,
                   const AttentionHead& h) const {
    for_each_row(h, [&](std::int64_t i, float* p, float*) {
      const KeyRange seen = a.visible(h.sequence, i);
      finish_scores(a, call, h, i, seen, p + seen.first);
      const RowStatistics row = statistics(a, h, i, args);
      shares_of_scores(p + seen.first, seen.count(), row.greatest, 1 / row.sum);
      std::fill(p, p + seen.first, 0.0f);
      std::fill(p + seen.end, p + key_pitch, 0.0f);
      round_stored(dtype, p, h.sequence.keys);
    });
  }

  void make_slopes(const AttentionCall& call, const AttentionHead& h) const {
    const KeyRange all{0, h.sequence.keys};
    for_each_row(h, [&](std::int64_t i, float*, float* dp) {
      round_stored(dtype, dp, all.end);
      drop_shares(a, call, h, i, all, dp);
      round_stored(dtype, dp, all.end);
    });
    for_each_row(h, [&](std::int64_t i, float* p, float* dp) {
      gradient_of_scores(p, dp, all.end, delta.data()[i]);
      round_stored(dtype, dp, all.end);
    });
    for_each_row(h, [&](std::int64_t i, float* p, float* ds) {
      scale_row(ds, all.end, a.scale);
      round_stored(dtype, ds, all.end);
      drop_shares(a, call, h, i, all, p);
      round_stored(dtype, p, all.end);
    });
  }

  // to += x^T*right, for x [queries, keys].
  void add_transposed(const AttentionHead& h, const Scratch& x, const LoadedHead& right,
                      const LoadedHead& to) const {
    const std::int64_t queries = h.sequence.queries;
    for_each_tile(h.sequence.keys, [&](std::int64_t first, std::int64_t count) {
      thread_local std::vector<float> columns;
      columns.resize(static_cast<std::size_t>(count * queries));
      transpose_plane({sizeof(float), count, queries, key_pitch, queries, count, queries, nullptr},
                      x.data() + first, columns.data(), false);
      gemm({count, to.pitch, queries, queries, right.pitch, to.pitch}, columns.data(),
           right.rows.data(), to.rows.data() + first * to.pitch, true);
    });
  }

  void store_queries(const KernelArgs& args, const AttentionHead& h) const {
    for_each_tile(h.sequence.queries, [&](std::int64_t first, std::int64_t count) {
      thread_local std::vector<float> sums;
      sums.resize(static_cast<std::size_t>(count * key.pitch));
      gemm({count, key.pitch, h.sequence.keys, key_pitch, key.pitch, key.pitch},
           slopes.data() + first * key_pitch, key.rows.data(), sums.data());
      AttentionRows{dtype, a.query, a.size}.store(sums.data(), key.pitch, h.sequence.batch, h.head,
                                                  h.sequence.first_query + first, count,
                                                  args.outputs[0]);
    });
  }

  void store_keys(const KernelArgs& args, const AttentionHead& h) const {
    const AttentionSequence& s = h.sequence;
    const std::int64_t head = h.head / a.group();
    key_rows().store(dk.rows.data(), dk.pitch, s.batch, head, s.first_key, s.keys, args.outputs[1]);
    value_rows().store(dv.rows.data(), dv.pitch, s.batch, head, s.first_key, s.keys,
                       args.outputs[2]);
  }

  void operator()(const KernelArgs& args) const {
    const AttentionCall call(a, args.inputs);
    clear_outputs(problem, args);
    for (std::int64_t n = 0; n < a.sequences(); ++n) {
      AttentionHead h{call.sequence(n)};
      for (h.head = 0; h.head < a.heads; ++h.head) {
        if (h.head % a.group() == 0) load_keys(args, h);
        load_queries(args, h);
        multiply(h, query, a.size, keys, shares);
        make_shares(args, call, h);
        multiply(h, dy, a.value_size, values, slopes);
        make_slopes(call, h);
        add_transposed(h, shares, dy, dv);
        add_transposed(h, slopes, query, dk);
        store_queries(args, h);
        add_sink_gradient(a, call, h, delta.data(), args);
        if ((h.head + 1) % a.group() == 0) store_keys(args, h);
      }
    }
  }
};

Kernel composed(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary =
              "head by head: shares, their gradients, three products; each rounded to the "
              "dtype",
          .prepare = [](const Problem& problem) -> Launch {
            return [plan = std::make_shared<GradientComposition>(problem)](const KernelArgs& args) {
              (*plan)(args);
            };
          },
          .temporary_bytes =
              [](const Problem& problem) {
                const Attention a = attention_of(problem);
                return static_cast<std::size_t>(2 * GradientComposition::score_elements(a)) *
                       sizeof(float);
              }};
}

const RegisteredKernel kernels[] = {
    RegisteredKernel(composed("flash_attention_score_grad")),
    RegisteredKernel(composed("scaled_dot_product_attention_grad")),
};

}  // namespace
}  // namespace opbench
