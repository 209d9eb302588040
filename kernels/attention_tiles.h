#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/simd/attention_rows.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/tile_factors.h"

namespace opbench {

/// Rows of scores that are computed without a transposition of the keys.
constexpr std::int64_t kFewRows = 8;
/// Keys that a few rows of scores take at once if these are loaded: they stay in the L1 cache.
constexpr std::int64_t kFewKeys = 32;

/// Rows of scores: those of one query after the other, each with all heads of a group.
struct ScoreTile {
  const AttentionSequence& s;
  std::int64_t key_head, group, first, queries;
  std::int64_t rows = queries * group;
  float *sums = nullptr, *greatest = nullptr, *total = nullptr;  // of the rows
  float *query = nullptr, *scores = nullptr;
  TileFactors factors = {};  // of query, keys and values

  std::int64_t at(std::int64_t r) const { return first + r / group; }
  AttentionHead head(std::int64_t r) const { return {s, key_head * group + r % group}; }
};

/// A tile of queries of one head as left factors, and as right ones.
struct QueryTile {
  AttentionHead head;
  std::int64_t first = 0, count = 0;
  AlignedFloats query, dy;
  AlignedFloats query_pairs, dy_pairs;  // memory of right factors
  const float *right_query = nullptr, *right_dy = nullptr;
};

/// A block of keys, the sums of its gradients in fp32, and the shares of a tile.
struct KeyTile {
  std::int64_t first = 0, count = 0;
  AlignedFloats rows, pairs, keys, values;  // keys; keys and values transposed
  const float* right_keys = nullptr;
  AlignedFloats dk, dv;
  AlignedFloats shares, slopes, narrow, columns;  // [queries, keys], and transposed
};

/// The products of tiles of an attention.
struct AttentionTiles {
  using Tile = ScoreTile;

  Problem problem;
  Attention a;
  DType dtype;
  TileFactors factors;
  std::int64_t pitch, value_pitch;  // of queries and keys, and of values, in terms
  std::int64_t queries;             // of a tile

  static std::int64_t queries_of(const Attention& a) {
    return std::max<std::int64_t>(1, 2 * kQueryTile / a.group());
  }
  // The sums of the rows of a tile, then their maxima and totals.
  static std::int64_t tile_sums(const Attention& a) {
    const std::int64_t rows = std::min(a.queries, queries_of(a)) * a.group();
    return rows * round_up_to_cube(a.value_size) + round_up_to_cube(2 * rows);
  }

  // A pair has terms of one part of a row.
  static TileFactors factors_of(const Problem& p, const Attention& a) {
    const bool is_even = a.rope_size == 0 || a.size % 2 == 0;
    return is_even ? TileFactors::of(p.inputs[0].dtype) : TileFactors();
  }

  explicit AttentionTiles(const Problem& p)
      : problem(p),
        a(attention_of(p)),
        dtype(p.inputs[0].dtype),
        factors(factors_of(p, a)),
        pitch(round_up_to_cube(a.width())),
        value_pitch(round_up_to_cube(a.value_size)),
        queries(queries_of(a)) {}

  /// One call.
  struct Run {
    const KernelArgs& args;
    const AttentionCall& call;
    KeyStore store;
  };

  void load_query(const Run& run, const Tile& tile, std::int64_t r) const {
    const std::int64_t words = tile.factors.words(pitch);
    float* const to = tile.query + r * words;
    const auto load = [&](std::size_t input, const HeadRows& places, std::int64_t size,
                          std::int64_t first) {
      const std::int64_t place =
          places.at(tile.s.batch, tile.head(r).head, tile.s.first_query + tile.at(r));
      tile.factors.load(dtype, at(run.args.inputs[input], dtype, place), size, to, first);
    };
    load(0, a.query, a.size, 0);
    if (a.rope_size > 0) load(a.places.query_rope, a.query_rope, a.rope_size, a.size);
    std::fill(to + tile.factors.words(a.width()), to + words, 0.0f);
  }

  // Queries, and memory for `width` scores of each row.
  void start(const Run& run, Tile& tile, std::int64_t width) const {
    thread_local AlignedFloats query, scores;
    query.resize(tile.rows * pitch);
    scores.resize(tile.rows * width);
    tile.query = query.data(), tile.scores = scores.data();
    tile.factors = tile.rows <= kFewRows ? TileFactors() : factors;
    for (std::int64_t r = 0; r < tile.rows; ++r) load_query(run, tile, r);
    std::fill_n(tile.sums, tile.rows * value_pitch, 0.0f);
  }

  void use_sums(Tile& tile, float* memory) const {
    tile.sums = memory;
    tile.greatest = memory + tile.rows * value_pitch, tile.total = tile.greatest + tile.rows;
  }
  void use_own_sums(Tile& tile) const {
    thread_local AlignedFloats own;
    own.resize(tile_sums(a));
    use_sums(tile, own.data());
  }

  // Calls body(lines, offset) for parts of the keys of input 1, or the values of input 2.
  template <class Body>
  void for_each_lines(const Run& run, const Tile& tile, std::size_t input, KeyRange keys,
                      Body body) const {
    if (run.store.has_lines()) {
      return run.store.for_each_lines(input, tile.s, tile.key_head, keys, body);
    }
    thread_local AlignedFloats rows;
    const std::int64_t size = input == 1 ? pitch : value_pitch;
    rows.resize(kFewKeys * size);
    for (KeyRange part = keys; part.first < keys.end; part.first = part.end) {
      part.end = std::min(part.first + kFewKeys, keys.end);
      if (input == 1) {
        run.store.load_keys(tile.factors, tile.s, tile.key_head, part, size, rows.data());
      } else {
        run.store.load_values(tile.factors, tile.s, tile.key_head, part, size, rows.data());
      }
      body(KeyLines{DType::fp32, rows.data(), part.count(), size, size}, part.first - keys.first);
    }
  }

  // Products of all queries and `keys`; a remainder up to a multiple of kCube may be written.
  void multiply_keys(const Run& run, const Tile& tile, KeyRange keys, std::int64_t apart,
                     float* to) const {
    if (tile.rows <= kFewRows) {
      return for_each_lines(run, tile, 1, keys, [&](const KeyLines& lines, std::int64_t offset) {
        scores_of_few(tile.query, tile.rows, lines, apart, to + offset);
      });
    }
    thread_local AlignedFloats rows, columns;
    const std::int64_t words = tile.factors.words(pitch), terms = tile.factors.words(a.width());
    rows.resize(kKeyBlock * words);
    run.store.load_keys(tile.factors, tile.s, tile.key_head, keys, words, rows.data());
    columns.resize(kKeyBlock * words);
    transpose_rows(rows.data(), keys.count(), terms, words, kKeyBlock, columns.data());
    tile.factors.multiply(
        {tile.rows, round_up_to_cube(keys.count()), terms, words, kKeyBlock, apart}, tile.query,
        columns.data(), to);
  }

  // sums += shares*values
  void add_values(const Run& run, const Tile& tile, KeyRange keys, std::int64_t apart,
                  const float* shares) const {
    if (tile.rows <= kFewRows) {
      return for_each_lines(run, tile, 2, keys, [&](const KeyLines& lines, std::int64_t offset) {
        add_values_of_few(shares + offset, tile.rows, lines, apart, tile.sums);
      });
    }
    thread_local AlignedFloats rows, pairs, narrow;
    for (AlignedFloats* memory : {&rows, &pairs}) memory->resize(kKeyBlock * value_pitch);
    narrow.resize(tile.rows * kKeyBlock);
    const TileFactors& f = tile.factors;
    run.store.load_values(f, tile.s, tile.key_head, keys, f.words(value_pitch), rows.data());
    const auto left = f.left(shares, tile.rows, keys.count(), apart, narrow.data());
    f.multiply(
        {tile.rows, value_pitch, f.words(keys.count()), left.pitch, value_pitch, value_pitch},
        left.words, f.right(rows.data(), keys.count(), f.words(value_pitch), pairs.data()),
        tile.sums, true);
  }

  void store(const Run& run, const Tile& tile) const {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const std::int64_t place =
          a.out.at(tile.s.batch, tile.head(r).head, tile.s.first_query + tile.at(r));
      store_floats(dtype, tile.sums + r * value_pitch, a.value_size,
                   at(run.args.outputs[0], dtype, place));
    }
  }

  // Calls body(tile) on all threads for all tiles.
  template <class Body>
  void for_each(const AttentionCall& call, Body body) const {
    for_each_tile(call, a.key_heads, &AttentionSequence::queries, queries,
                  [&](const AttentionSequence& s, std::int64_t key_head, std::int64_t first,
                      std::int64_t count) {
                    Tile tile{s, key_head, a.group(), first, count};
                    use_own_sums(tile);
                    body(tile);
                  });
  }
};

}  // namespace opbench
