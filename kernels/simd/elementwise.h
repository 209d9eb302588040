#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace opbench {

/// True if what the problem reads and writes outgrows the caches that the threads in use have to
/// themselves and what of the shared one is worth keeping, so that outputs are better streamed: a
/// line that does not stay in a cache is read from memory before it is written.
bool outgrows_cache(const Problem& problem);
/// The same of a call that reads and writes so many bytes, where that is not all of its inputs.
bool outgrows_cache(std::size_t bytes);

/// Elements stored in every input and output, padding included. Element-wise kernels compute the
/// padding lanes too: cheaper than skipping them, and nobody reads them.
std::int64_t stored_elements(const Problem& problem);

/// Cuts at multiples of this many elements keep every thread's range aligned to cache lines.
inline constexpr std::int64_t kElementwiseGrain = 64;

/// One thread's share of an element-wise call: `count` elements, the inputs and the output at its
/// start. Where inputs are broadcast there may be several rows of `count` elements.
struct ElementwisePart {
  std::size_t count;
  const void* inputs[4];
  void* output;
  int single = -1;             ///< the input of which there is one element for a row; -1: none
  std::size_t rows = 1;        ///< those of the output lie one after the other
  std::int64_t steps[4] = {};  ///< elements from row to row of the inputs
};

/// A launch that gives every thread its part of the stored elements of one-output problems of up to
/// four inputs.
Launch elementwise_launch(const Problem& problem,
                          std::function<void(const ElementwisePart& part)> compute);

/// `body(begin, end)` over the stored elements, one range for each thread that has enough to do.
void for_each_range(std::int64_t count,
                    const std::function<void(std::int64_t, std::int64_t)>& body);

/// What `compute` takes.
enum class BroadcastForm { dense, rows };

/// elementwise_launch for inputs that may be broadcast: `compute` gets parts of the result in
/// which all lie dense, those that are repeated after few elements expanded piece by piece in the
/// cache. With BroadcastForm::rows a part may have several rows (ElementwisePart::rows), and of one
/// input a single element for each.
Launch broadcast_launch(const Problem& problem,
                        std::function<void(const ElementwisePart& part)> compute,
                        BroadcastForm form = BroadcastForm::dense);

}  // namespace opbench
