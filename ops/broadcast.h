#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The outputs of an element-wise operator with inputs that are broadcast like in PyTorch: shapes
/// are aligned at the last axis, extents are equal or 1, dtypes are promoted. Inputs in a private
/// format must be alike, have one element, or (in NC1HWC0) have four axes and the same channels.
/// Errors: throws Error that names the operator, the inputs and what is allowed.
std::vector<TensorDesc> infer_broadcast(std::string_view op, std::span<const TensorDesc> inputs);

/// True if an input is repeated along some axis.
bool is_broadcast(const Problem& problem);

/// The engine's rule for tensors of different shapes in private formats: channels must fill their
/// blocks. Returns an empty string, or the reason of the refusal. Source: CANN axpy.py, add.py:
/// op_select_format.
std::string broadcast_engine_refusal(const Problem& problem);

/// Neighbouring elements of the result, found in an input: `count` elements from `first` on, `step`
/// apart (1, or 0 for a repeated element).
struct BroadcastRun {
  std::int64_t first, count, step;
};

/// Consecutive runs of equal length in the result: `count` runs, which begin `step` apart in an
/// input.
struct BroadcastRows {
  std::int64_t count, step;
};

/// The places of the elements of a tensor of extents `to` in a dense tensor of extents `from` that
/// is broadcast to it.
class BroadcastView {
 public:
  BroadcastView(const Dims& from, const Dims& to);

  /// True if nothing is repeated.
  bool is_whole() const { return axes_.empty() || (axes_.size() == 1 && axes_[0].stride == 1); }

  /// The longest run that begins at `element` of the result.
  BroadcastRun run_at(std::int64_t element) const {
    if (axes_.empty()) return {0, 1, 1};
    const std::int64_t inside = element % axes_[0].extent;
    BroadcastRun run{inside * axes_[0].stride, axes_[0].extent - inside, axes_[0].stride};
    element /= axes_[0].extent;
    for (std::size_t i = 1; i < axes_.size(); ++i) {
      run.first += element % axes_[i].extent * axes_[i].stride;
      element /= axes_[i].extent;
    }
    return run;
  }

  /// The number of consecutive runs of `length` from `element` on. `length` is at most that of
  /// `run_at`, so there is at least one run.
  BroadcastRows rows_at(std::int64_t element, std::int64_t length) const {
    if (is_whole()) return {std::numeric_limits<std::int64_t>::max(), length};
    const std::int64_t extent = axes_[0].extent, inside = element % extent;
    if (length < extent) return {(extent - inside) / length, length * axes_[0].stride};
    if (axes_.size() == 1) return {1, 0};
    return {axes_[1].extent - element / extent % axes_[1].extent, axes_[1].stride};
  }

  /// The number of elements after which the places repeat, if they do.
  std::int64_t period() const { return period_; }

  /// Calls body(run, place in the range) for the runs that make up `range` of the result.
  template <class Body>
  void for_each_run(ElementRange range, Body body) const {
    if (range.count == 0) return;
    Index index{};
    std::int64_t rest = range.first;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      index[i] = rest % axes_[i].extent;
      rest /= axes_[i].extent;
    }
    BroadcastRun run = run_at(range.first);
    for (std::int64_t done = 0; done < range.count;) {
      run.count = std::min(run.count, range.count - done);
      body(run, done);
      done += run.count;
      if (done < range.count) to_next_row(index, run);
    }
  }

 private:
  struct Axis {
    std::int64_t extent, stride;
  };
  using Index = std::array<std::int64_t, kLargestRank>;

  void to_next_row(Index& index, BroadcastRun& run) const {
    run.first -= index[0] * run.step;
    run.count = axes_[0].extent;
    index[0] = 0;
    for (std::size_t i = 1; i < axes_.size(); ++i) {
      run.first += axes_[i].stride;
      if (++index[i] < axes_[i].extent) return;
      run.first -= axes_[i].extent * axes_[i].stride;
      index[i] = 0;
    }
  }

  std::vector<Axis> axes_;  // innermost first; neighbours of one kind are merged
  std::int64_t period_ = std::numeric_limits<std::int64_t>::max();
};

/// Reads the elements of `x`, broadcast to the shape of `view`.
void read_broadcast(const InputReader& x, const BroadcastView& view, ElementRange range,
                    std::span<double> to);

/// The reference of an element-wise operator with kInputs inputs that are broadcast.
template <std::size_t kInputs = 2, class Function>
Reference broadcast_reference(std::string_view op, std::span<const InputReader> inputs,
                              Function function) {
  const Dims to = infer_broadcast(op, descs_of(inputs))[0].shape;
  std::vector<BroadcastView> views;
  for (const InputReader& input : inputs) views.emplace_back(input.desc().shape, to);
  return [inputs = std::vector(inputs.begin(), inputs.end()), views, function](
             std::size_t, ElementRange range, std::span<double> values) {
    thread_local std::array<std::vector<double>, kInputs> read;
    for (std::size_t i = 0; i < kInputs; ++i) {
      read[i].resize(values.size());
      read_broadcast(inputs[i], views[i], range, read[i]);
    }
    [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = function(read[kAt][i]...);
    }
    (std::make_index_sequence<kInputs>());
  };
}

}  // namespace opbench
