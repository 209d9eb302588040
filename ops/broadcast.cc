#include "ops/broadcast.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::int64_t extent_at(const Dims& shape, std::size_t rank, std::size_t axis) {
  const std::size_t missing = rank - shape.size();
  return axis < missing ? 1 : shape[axis - missing];
}

std::string shapes_of(std::span<const TensorDesc> inputs) {
  std::string shapes;
  for (const TensorDesc& input : inputs) {
    shapes += (shapes.empty() ? "" : " and ") + to_string(input.shape);
  }
  return shapes;
}

Dims broadcast_shape(std::string_view op, std::span<const TensorDesc> inputs) {
  std::size_t rank = 0;
  for (const TensorDesc& input : inputs) rank = std::max(rank, input.shape.size());
  Dims result(rank, 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t extent = extent_at(inputs[i].shape, rank, axis);
      if (result[axis] == 1) {
        result[axis] = extent;
      } else if (extent != 1 && extent != result[axis]) {
        throw Error(fmt::format(
            "{}: inputs of shapes {} are {} and {} long on axis {} of {}; allowed: equal "
            "extents, or 1",
            op, shapes_of(inputs.first(i + 1)), result[axis], extent, axis, rank));
      }
    }
  }
  return result;
}

// A block of 16 channels cannot be split: only whole blocks are repeated.
bool have_the_same_channels(const TensorDesc& a, const TensorDesc& b) {
  return a.format == Format::NC1HWC0 && b.format == a.format && a.c0 == b.c0 &&
         a.shape.size() == 4 && b.shape.size() == 4 && a.shape[1] == b.shape[1];
}

bool are_stored_alike(TensorDesc a, const TensorDesc& b) {
  a.dtype = b.dtype;
  return a == b;
}

// The input that determines the storage of the output: the first with more than one element.
const TensorDesc& leading(std::span<const TensorDesc> inputs) {
  const auto rank_of = [](const TensorDesc& input) {
    return std::pair(input.elements() != 1, input.shape.size());
  };
  return *std::max_element(
      inputs.begin(), inputs.end(),
      [&](const TensorDesc& a, const TensorDesc& b) { return rank_of(a) < rank_of(b); });
}

void require_storage(std::string_view op, const TensorDesc& a, const TensorDesc& b) {
  if (!is_private(a.format) && !is_private(b.format)) return;
  if (a.elements() == 1 || b.elements() == 1) return;
  if (are_stored_alike(a, b) || have_the_same_channels(a, b)) return;
  throw Error(
      fmt::format("{}: inputs are {} and {}; allowed: alike, in NC1HWC0 of four axes "
                  "with the same channels, one of a single element, or plain ones",
                  op, to_string(a), to_string(b)));
}

}  // namespace

std::vector<TensorDesc> infer_broadcast(std::string_view op, std::span<const TensorDesc> inputs) {
  const Dims shape = broadcast_shape(op, inputs);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) require_storage(op, inputs[j], inputs[i]);
  }
  TensorDesc result = leading(inputs);
  result.dtype = promoted(inputs);
  if (result.shape == shape) return {result};
  if (!is_private(result.format)) return {describe(result.dtype, shape)};
  return {with_shape(result, shape)};
}

bool is_broadcast(const Problem& problem) {
  return std::any_of(problem.inputs.begin(), problem.inputs.end(), [&](const TensorDesc& input) {
    return input.shape != problem.outputs[0].shape;
  });
}

std::string broadcast_engine_refusal(const Problem& problem) {
  if (!is_broadcast(problem) || !is_private(problem.outputs[0].format)) return {};
  const std::int64_t channels = unaligned_channels(problem.inputs);
  if (channels == 0) return {};
  return fmt::format("{}: C={} is not a multiple of 16 and the shapes differ", problem.op->name,
                     channels);
}

BroadcastView::BroadcastView(const Dims& from, const Dims& to) {
  std::int64_t stride = 1;
  for (std::size_t axis = to.size(); axis-- > 0;) {
    const std::int64_t own = extent_at(from, to.size(), axis);
    if (to[axis] == 1) continue;
    const std::int64_t step = own == 1 ? 0 : stride;
    stride *= own;
    if (!axes_.empty() && (axes_.back().stride == 0) == (step == 0)) {
      axes_.back().extent *= to[axis];
    } else {
      axes_.push_back({to[axis], step});
    }
  }
  if (axes_.size() < 2 || axes_.back().stride != 0) return;
  period_ = 1;
  for (std::size_t i = 0; i + 1 < axes_.size(); ++i) period_ *= axes_[i].extent;
}

void read_broadcast(const InputReader& x, const BroadcastView& view, ElementRange range,
                    std::span<double> to) {
  view.for_each_run(range, [&](const BroadcastRun& run, std::int64_t place) {
    const auto part =
        to.subspan(static_cast<std::size_t>(place), static_cast<std::size_t>(run.count));
    if (run.step != 0) return x.read({run.first, run.count}, part);
    x.read({run.first, 1}, part.first(1));
    std::fill(part.begin() + 1, part.end(), part[0]);
  });
}

}  // namespace opbench
