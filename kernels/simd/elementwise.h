#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace opbench {

/// True if the bytes that the problem reads and writes exceed the threads' own caches and the
/// useful part of the shared cache. Outputs are then better streamed, because a line outside the
/// caches is read from memory before it is written.
bool outgrows_cache(const Problem& problem);
/// Like outgrows_cache(problem), for a call that reads and writes `bytes`, if these are not all of
/// its inputs.
bool outgrows_cache(std::size_t bytes);

/// The stored elements of every input and output, including padding. Element-wise kernels also
/// compute the padding lanes: this is cheaper than skipping them, and their values are not used.
std::int64_t stored_elements(const Problem& problem);

/// Ranges cut at multiples of this many elements stay aligned to cache lines.
inline constexpr std::int64_t kElementwiseGrain = 64;

/// One thread's part of an element-wise call: `count` elements, the inputs and the output at its
/// start. With broadcast inputs there may be several rows of `count` elements.
struct ElementwisePart {
  std::size_t count;
  const void* inputs[4];
  void* output;
  int single = -1;             ///< the input with one element for a row; -1: no such input
  std::size_t rows = 1;        ///< rows of the output are contiguous
  std::int64_t steps[4] = {};  ///< elements of the inputs from row to row
};

/// A launch that divides the stored elements among the threads, for problems with one output and up
/// to four inputs.
Launch elementwise_launch(const Problem& problem,
                          std::function<void(const ElementwisePart& part)> compute);

/// Calls `body(begin, end)` over the stored elements, with one range for each thread that has
/// enough work.
void for_each_range(std::int64_t count,
                    const std::function<void(std::int64_t, std::int64_t)>& body);

/// The form of the parts that `compute` takes.
enum class BroadcastForm { dense, rows };

/// elementwise_launch for inputs that may be broadcast. `compute` gets parts of the result in which
/// all inputs are dense; inputs that repeat after few elements are expanded piece by piece in the
/// cache. With BroadcastForm::rows a part may have several rows (ElementwisePart::rows), and one
/// input may have a single element for each row.
Launch broadcast_launch(const Problem& problem,
                        std::function<void(const ElementwisePart& part)> compute,
                        BroadcastForm form = BroadcastForm::dense);

}  // namespace opbench
