#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The cache of keys or of values that scatter_pa_kv_cache writes to: rows of `row` elements in
/// blocks of `block_size` places. A row consists of `parts` runs; neighbouring places of a part are
/// neighbours in a block.
struct PagedStore {
  std::int64_t blocks, block_size, row, parts = 1;

  /// `which`: 0 for keys, 1 for values. Errors: throws Error that names the input and what is
  /// allowed.
  PagedStore(std::span<const TensorDesc> inputs, std::size_t which, const Attrs& attrs);

  std::int64_t slots() const { return blocks * block_size; }
  std::int64_t run() const { return row / parts; }
  /// The first element of part `part` of the row in slot `slot`.
  std::int64_t element_of(std::int64_t slot, std::int64_t part) const {
    return ((slot / block_size * parts + part) * block_size + slot % block_size) * run();
  }

  /// `count` elements from element `first` of the row in slot `slot` on.
  struct Place {
    std::int64_t slot, first, count;
  };
  Place place_of(std::int64_t element) const {
    const std::int64_t inside = element % run(), place = element / run() % block_size;
    const std::int64_t part = element / (run() * block_size) % parts;
    return {element / (row * block_size) * block_size + place, part * run() + inside,
            run() - inside};
  }
};

/// The tokens of sequences in a paged cache, for gather_pa_kv_cache: block_tables, seq_lens and
/// seq_offset, inputs 2, 3 and 6.
struct PagedSequences {
  std::int64_t blocks, block_size, most_blocks;
  std::vector<std::int64_t> table;    ///< most_blocks of each sequence
  std::vector<std::int64_t> counts;   ///< tokens of each sequence
  std::vector<std::int64_t> offsets;  ///< its first token

  PagedSequences(std::span<const InputReader> inputs, const Attrs& attrs);

  /// The slot of each token, sequence after sequence. Errors: throws Error for a token outside of
  /// its table, and for a block outside of the cache.
  std::vector<std::int64_t> slots() const;
};

}  // namespace opbench
