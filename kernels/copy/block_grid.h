#pragma once

#include <cstdint>

namespace opbench {

/// Blocks of `bytes` that keep their inside while their order changes: block (p, q) moves from
/// from + p * from_p + q * from_q to to + p * to_p + q * to_q, all in bytes.
struct BlockGrid {
  std::int64_t bytes = 0;
  std::int64_t np = 0, nq = 0;
  std::int64_t from_p = 0, from_q = 0;
  std::int64_t to_p = 0, to_q = 0;
};

/// On one thread. `stream`: past the cache; `bytes`, `to` and its strides are then multiples of 16.
void move_blocks(const BlockGrid& grid, const void* from, void* to, bool stream);

}  // namespace opbench
