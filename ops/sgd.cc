#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/optimizer.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Everything is per element: p, g and accum are inputs, the new p and accum are outputs. CANN's SGD
// marks the first step with a `stat` of 1: it ignores the dampening and expects zeros in accum.
struct Sgd {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, first_step;

  explicit Sgd(const Attrs& attrs)
      : lr(attrs.number("lr")),
        momentum(attrs.number("momentum")),
        dampening(attrs.number("dampening")),
        weight_decay(attrs.number("weight_decay")),
        nesterov(attrs.flag("nesterov")),
        first_step(attrs.flag("first_step")) {}

  double decayed(double p, double g) const { return weight_decay == 0 ? g : g + weight_decay * p; }
  double new_accum(double p, double g, double accum) const {
    if (first_step) return decayed(p, g);
    return momentum == 0 ? accum : accum * momentum + decayed(p, g) * (1 - dampening);
  }
  double new_parameter(double p, double g, double accum) const {
    if (momentum == 0) return p - lr * decayed(p, g);
    const double next = new_accum(p, g, accum);
    return p - lr * (nesterov ? decayed(p, g) + momentum * next : next);
  }
};

// The reference from `function(sgd, output, p, g, accum)`.
template <class Function>
Reference reference_of(std::span<const InputReader> inputs, const Attrs& attrs, Function function) {
  return [p = inputs[0], g = inputs[1], accum = inputs[2], sgd = Sgd(attrs), function](
             std::size_t output, ElementRange range, std::span<double> to) {
    thread_local std::vector<double> gradient, velocity;
    gradient.resize(to.size());
    velocity.resize(to.size());
    p.read(range, to);
    g.read(range, gradient);
    accum.read(range, velocity);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = function(sgd, output, to[i], gradient[i], velocity[i]);
    }
  };
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return reference_of(
      inputs, attrs, [](const Sgd& sgd, std::size_t output, double p, double g, double accum) {
        return output == 0 ? sgd.new_parameter(p, g, accum) : sgd.new_accum(p, g, accum);
      });
}

// The sums of magnitudes for the gradient, for accum, and for the factor of the learning rate.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto step = [](const Sgd& sgd, double p, double g, double accum) {
    // A part with factor 0 counts as 0, also if it is infinite.
    const auto part = [](double factor, double value) {
      return factor == 0 ? 0 : std::fabs(factor * value);
    };
    const double decayed = std::fabs(g) + part(sgd.weight_decay, p);
    const double kept = sgd.first_step ? 0 : part(sgd.momentum, accum);
    const double next = kept + decayed;
    return sgd.nesterov ? decayed + sgd.momentum * next : next;
  };
  return {
      reference_of(inputs, attrs,
                   [step](const Sgd& sgd, std::size_t output, double p, double g, double accum) {
                     return step(sgd, p, g, accum) * (output == 0 ? sgd.lr : 1);
                   }),
      reference_of(inputs, attrs,
                   [step](const Sgd& sgd, std::size_t, double p, double g, double accum) {
                     return std::max(1.0, sgd.lr) * step(sgd, p, g, accum);
                   })};
}

void check_sizes(std::int64_t total, const std::vector<std::int64_t>& sizes) {
  std::int64_t left = total;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) {
      throw Error(
          fmt::format("sgd: sizes[{}] is {}; a tensor has at least 1 element", i, sizes[i]));
    }
    if (sizes[i] > left) {
      throw Error(fmt::format("sgd: sizes[{}] is {}, but {} of {} elements are left", i, sizes[i],
                              left, total));
    }
    left -= sizes[i];
  }
  if (!sizes.empty() && left != 0) {
    throw Error(fmt::format("sgd: sizes add up to {}, but the buffers hold {} elements",
                            total - left, total));
  }
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc desc = infer_elementwise("sgd", inputs)[0];
  if (desc.shape.size() != 1) {
    throw Error(fmt::format("sgd: inputs are flat buffers of one axis, found {}", to_string(desc)));
  }
  if (attrs.flag("nesterov") && (attrs.number("dampening") != 0 || attrs.number("momentum") == 0)) {
    throw Error(fmt::format("sgd: nesterov needs a momentum and no dampening, found {} and {}",
                            attrs.number("momentum"), attrs.number("dampening")));
  }
  if (attrs.flag("first_step") && attrs.number("momentum") == 0) {
    throw Error("sgd: first_step needs a momentum, found 0; without it accum is not read");
  }
  check_sizes(desc.elements(), attrs.list("sizes"));
  return {desc, desc};
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = update_traffic<6>(problem);
  if (problem.attrs.flag("first_step")) traffic.bytes_read -= double(problem.inputs[2].bytes());
  return traffic;
}

std::vector<AttrSpec> attributes() {
  return {{"sizes", std::vector<std::int64_t>{},
           "elements of each tensor, contiguous in the buffers; [] is one tensor"},
          {"lr", double(0.1f), "learning rate", not_negative},
          {"momentum", double(0.9f), "factor of accum; 0: accum does not change", not_negative},
          {"dampening", 0.0, "accum takes 1 - dampening of the gradient"},
          {"weight_decay", 0.0, "g += weight_decay*p", not_negative},
          {"nesterov", false, "use Nesterov momentum"},
          {"first_step", false, "accum becomes g, without dampening"}};
}

const RegisteredOp registered{{
    .name = "sgd",
    .ir_name = "sgd",
    .summary =
        "g += wd*p; accum = m*accum + (1-d)*g, in the first step g; p -= lr*accum, nesterov: "
        "lr*(g + m*accum)",
    .source = "torch.optim.SGD; CANN SGD; NpuFusedSGD over combined tensors",
    .known_as = {.not_recorded = "dumps hold its element-wise steps"},
    .inputs = {{"parameters"}, {"gradient"}, {"accum"}},
    .outputs = {{"parameters_out"}, {"accum_out"}},
    .attrs = attributes(),
    .dtypes = {DType::fp32, DType::fp16},
    .formats = {Format::ND},
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic,
    .inputs_like = [](const Dims& shape,
                      const Attrs&) { return std::vector<Dims>(3, Dims{element_count(shape)}); },
    .adds_to_first = true,
}};

}  // namespace
}  // namespace opbench
