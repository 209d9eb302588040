#include "ops/class_loss.h"

#include <fmt/format.h>

#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

template <std::size_t kFirst>
Distribution classes(const Problem& problem) {
  return index_data(problem.inputs[kFirst].shape[1]);
}

}  // namespace

void require_class_rows(std::string_view op, std::span<const TensorDesc> inputs) {
  if (inputs[0].shape.size() != 2) {
    throw Error(fmt::format("{}: 'self' has shape {}; allowed: [N, C], at least one of each", op,
                            to_string(inputs[0].shape)));
  }
  require_class_places(op, inputs);
}

Dims class_places(const Dims& shape) {
  Dims places = shape.empty() ? Dims{1} : shape;
  if (places.size() > 1) places.erase(places.begin() + 1);
  return places;
}

void require_class_places(std::string_view op, std::span<const TensorDesc> inputs) {
  const TensorDesc &x = inputs[0], &target = inputs[1];
  if (x.shape.size() < 2 || x.elements() == 0) {
    throw Error(fmt::format("{}: 'self' has shape {}; allowed: [N, C], at least one of each", op,
                            to_string(x.shape)));
  }
  if (target.shape != class_places(x.shape)) {
    throw Error(
        fmt::format("{}: 'target' has shape {}; allowed: {}, one class for each row of "
                    "'self'",
                    op, to_string(target.shape), to_string(class_places(x.shape))));
  }
  if (inputs.size() < 3 || inputs[2].shape == Dims{x.shape[1]}) return;
  throw Error(
      fmt::format("{}: 'weight' has shape {}; allowed: {}, one factor for each column of "
                  "'self'",
                  op, to_string(inputs[2].shape), x.shape[1]));
}

ClassTargets::ClassTargets(std::span<const InputReader> inputs, const Attrs& attrs)
    : target(inputs[1].read_index()), ignore_index(attrs.integer("ignore_index")) {
  weight = inputs.size() > 2
               ? inputs[2].read_all()
               : std::vector<double>(static_cast<std::size_t>(inputs[0].desc().shape[1]), 1.0);
  if (reduction_of(attrs) != Reduction::mean) {
    total = 1;
    return;
  }
  for (std::size_t n = 0; n < target.size(); ++n) total += is_ignored(n) ? 0 : of_target(n);
}

std::vector<TensorSpec> class_inputs(std::size_t first, Distribution (*data)(const Problem&)) {
  const auto uniform = [](const Problem&) {
    return Distribution{DistributionKind::uniform, 0.5, 1.5};
  };
  return {{"self", "self", {}, data},
          {"target", "target", kIndexDTypes, first == 0 ? classes<0> : classes<1>},
          {"weight", "weight", {DType::fp32}, uniform}};
}

std::vector<AttrSpec> class_loss_attrs() {
  return {{"ignore_index", std::int64_t{-100}, "rows with this target are ignored"},
          reduction_attr()};
}

template <std::size_t kFirst>
void check_classes(const Problem& problem, std::span<const InputReader> inputs) {
  const std::int64_t classes = problem.inputs[kFirst].shape[1];
  const std::int64_t ignored = problem.attrs.integer("ignore_index");
  const std::vector<std::int64_t> target = inputs[kFirst + 1].read_index();
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == ignored || (target[i] >= 0 && target[i] < classes)) continue;
    throw Error(fmt::format("{}: target[{}] is {}; allowed: 0 to {}, or {} (ignore_index)",
                            problem.op->name, i, target[i], classes - 1, ignored));
  }
}
template void check_classes<0>(const Problem&, std::span<const InputReader>);
template void check_classes<1>(const Problem&, std::span<const InputReader>);

std::vector<Dims> class_loss_inputs(const Dims& shape, const Attrs&) {
  return {shape, class_places(shape)};
}

std::vector<Dims> class_loss_grad_inputs(const Dims& shape, const Attrs& attrs) {
  const Dims places = class_places(shape);
  return {reduced_loss(attrs, places), shape, places};
}

std::vector<GradientCall> class_loss_gradient(std::string_view gradient, const Problem& forward) {
  GradientCall call{gradient, {{GradientArg::output_gradient, 0}}};
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    call.args.push_back({GradientArg::input, i});
  }
  return {call};
}

Traffic class_loss_traffic(const Problem& problem, std::size_t rows, double operations) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = operations * double(problem.inputs[rows].elements());
  return traffic;
}

}  // namespace opbench
