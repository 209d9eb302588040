#pragma once

// Of both there is a copy in each object that calls them; first.cc and second.cc are optimised
// differently, and the linker keeps the copy of the one that comes first.
#include <numeric>

namespace library {

inline double series(const double* values, int count) {
  double (*volatile sum)(const double*, const double*, double) = &std::accumulate<const double*>;
  return sum(values, values + count, 0.5);
}

struct Counted {
  explicit Counted(int count) : count(count) {}
  __attribute__((noinline)) ~Counted() { total += count > 0 ? count * count : -count; }
  int count;
  static inline int total = 0;
};

}  // namespace library
