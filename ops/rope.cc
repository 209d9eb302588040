// Rotary position embedding: pairs of elements of each line are rotated. Its gradient rotates back.
#include "ops/rope.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "rope", kGradName = "rope_grad";

constexpr std::string_view kModes[] = {"half", "interleave", "quarter", "interleave-half"};

std::int64_t last_of(const Dims& shape) { return shape.empty() ? 1 : shape.back(); }

void require(std::string_view op, const TensorDesc& x, const TensorDesc& cos, const TensorDesc& sin,
             const Attrs& attrs) {
  require_rotary_angles(op, x, cos, sin);
  if (last_of(cos.shape) != last_of(x.shape)) {
    throw Error(fmt::format("{}: 'cos' has shape {}; allowed: {} elements on the last axis", op,
                            to_string(cos.shape), last_of(x.shape)));
  }
  require_rotary_extent(op, "x", last_of(x.shape), rotary_mode(attrs));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require(kName, inputs[0], inputs[1], inputs[2], attrs);
  return {inputs[0]};
}

template <Sum kSum>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& x = inputs[0].desc().shape;
  const std::int64_t width = last_of(x);
  return rotated(inputs[0], width,
                 rotary_places(rotary_mode(attrs), static_cast<std::size_t>(width)),
                 broadcast_angles(x, inputs[1], inputs[2]), kSum);
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require(kGradName, inputs[0], inputs[1], inputs[2], attrs);
  if (inputs.size() < 4) return {inputs[0]};
  if (inputs[3].shape != inputs[0].shape) {
    throw Error(fmt::format("{}: 'x' has shape {}; allowed: {}, that of 'grad_output'", kGradName,
                            to_string(inputs[3].shape), to_string(inputs[0].shape)));
  }
  return {inputs[0], inputs[1], inputs[2]};
}

// dx: each product goes back to the element that it was made of. dcos and dsin: the sums over the
// lines for which the angle is repeated.
template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const auto width = static_cast<std::size_t>(last_of(shape));
  const std::vector<RotaryPlace> places = rotary_places(rotary_mode(attrs), width);
  const BroadcastView view(inputs[1].desc().shape, shape);
  const std::vector<double> dy = inputs[0].read_all(), cos = inputs[1].read_all(),
                            sin = inputs[2].read_all();
  const std::vector<double> x = inputs.size() > 3 ? inputs[3].read_all() : std::vector<double>{};
  std::vector<double> dx(dy.size()), dcos(cos.size()), dsin(sin.size());
  for (std::size_t line = 0; line < dy.size(); line += width) {
    const auto angle = static_cast<std::size_t>(view.run_at(static_cast<std::int64_t>(line)).first);
    for (std::size_t i = 0; i < width; ++i) {
      const auto [kept, turned, sign] = places[i];
      const double d = dy[line + i];
      dx[line + kept] += summand(kSum, d * cos[angle + i]);
      dx[line + turned] += summand(kSum, sign * d * sin[angle + i]);
      if (x.empty()) continue;
      dcos[angle + i] += summand(kSum, d * x[line + kept]);
      dsin[angle + i] += summand(kSum, sign * d * x[line + turned]);
    }
  }
  return elements_of({std::move(dx), std::move(dcos), std::move(dsin)});
}

template <Reference (*kReference)(std::span<const InputReader>, const Attrs&)>
Terms terms_by(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference terms = kReference(inputs, attrs);
  return {.magnitude = terms, .greatest = terms};
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{kGradName,
           {{GradientArg::output_gradient, 0},
            {GradientArg::input, 1},
            {GradientArg::input, 2},
            {GradientArg::input, 0}},
           {0, 1, 2}}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "RotaryPositionEmbedding",
    .summary = "y = p(x)*cos + r(x)*sin along the last axis; r turns pairs of elements by 90 "
               "degrees, p orders them like r",
    .source = "Su et al. 2021, arXiv:2104.09864; CANN RotaryPositionEmbedding, RotaryMul",
    .known_as = {.calls = {{"npu_rotary_mul, RotaryPositionEmbedding, RotaryMul",
                            "self|input|x|0, r1|cos|1, r2|sin|2",
                            "result|result0|out|y|0",
                            {.attrs = kRecordedRotaryMode}}},
                 .profiled = {{"RotaryPositionEmbedding, RotaryMul", "x, cos, sin", "y"}}},
    .inputs = {{"x", "self"}, {"cos", "r1", {}, rotary_data}, {"sin", "r2", {}, rotary_data}},
    .outputs = {{"y", "result"}},
    .attrs = {rotary_mode_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference<Sum::values>,
    .terms = terms_by<reference<Sum::terms>>,
    .traffic = input_traffic<3>,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, usual_angles(shape), usual_angles(shape)};
        },
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "NpuRotaryMulBackward",
    .summary = "dx = dy*cos and dy*sin turned back; if x is given, dcos = sum(dy*p(x)), dsin = "
               "sum(dy*r(x)) over the lines that share them",
    .source = "CANN RotaryPositionEmbeddingGrad, RotaryMulGrad",
    .known_as = {.calls = {{"npu_rotary_mul_backward, RotaryPositionEmbeddingGrad",
                            "grad|dy, r1|cos, r2|sin, self?|x?",
                            "result|result0|dx, result1|dcos, result2|dsin",
                            {.attrs = kRecordedRotaryMode}},
                           {"NpuRotaryMulBackward",
                            "grads/grads_0, r1, r2, self",
                            "grad_inputs/grad_inputs_0, grad_inputs/grad_inputs_1, "
                            "grad_inputs/grad_inputs_2",
                            {.attrs = kRecordedRotaryMode}},
                           {"RotaryMulGrad",
                            "dy, cos, sin, x?",
                            "dx, dcos, dsin",
                            {.is_profiled_only = true}}},
                 .profiled = {{"RotaryPositionEmbeddingGrad", "dy, cos, sin, x", "dx, dcos, dsin"},
                              {"RotaryMulGrad", "x, cos, sin, dy", "dx, dcos, dsin"}}},
    .inputs = {{"grad_output", "grads/grads_0"},
               {"cos", "r1", {}, rotary_data},
               {"sin", "r2", {}, rotary_data},
               {"x", "self"}},
    .outputs = {{"grad_x", "grad_inputs/grad_inputs_0"},
                {"grad_cos", "grad_inputs/grad_inputs_1"},
                {"grad_sin", "grad_inputs/grad_inputs_2"}},
    .optional_inputs = 1,
    .attrs = {rotary_mode_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<Sum::values>,
    .terms = terms_by<reference_grad<Sum::terms>>,
    .traffic =
        [](const Problem& problem) {
          return problem.inputs.size() > 3 ? input_traffic<7>(problem) : input_traffic<3>(problem);
        },
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, usual_angles(shape), usual_angles(shape), shape};
        },
    .mixing = Mixing::other,
}};

}  // namespace

AttrSpec rotary_mode_attr() {
  return {"mode", std::string("half"), "the pairs: half, interleave, quarter, interleave-half",
          [](const AttrValue& value) -> std::string {
            const auto& word = std::get<std::string>(value);
            const bool is_known =
                std::find(std::begin(kModes), std::end(kModes), word) != std::end(kModes);
            return is_known ? "" : "it must be half, interleave, quarter or interleave-half";
          }};
}

RotaryMode rotary_mode(const Attrs& attrs) {
  const auto found = std::find(std::begin(kModes), std::end(kModes), attrs.word("mode"));
  return static_cast<RotaryMode>(found - std::begin(kModes));
}

std::vector<RotaryPlace> rotary_places(RotaryMode mode, std::size_t extent) {
  const bool is_quarter = mode == RotaryMode::quarter;
  const std::size_t half_of = extent / (is_quarter ? 4 : 2);
  std::vector<RotaryPlace> places;
  for (std::size_t i = 0; i < extent; ++i) {
    if (mode == RotaryMode::interleave) {
      places.push_back(i % 2 == 0 ? RotaryPlace{i, i + 1, -1} : RotaryPlace{i, i - 1, 1});
    } else if (mode == RotaryMode::interleave_half) {
      const std::size_t pair = i % half_of * 2;
      places.push_back(i < half_of ? RotaryPlace{pair, pair + 1, -1}
                                   : RotaryPlace{pair + 1, pair, 1});
    } else {
      const bool is_first = i / half_of % 2 == 0;
      places.push_back(is_first ? RotaryPlace{i, i + half_of, -1} : RotaryPlace{i, i - half_of, 1});
    }
  }
  return places;
}

void require_rotary_extent(std::string_view op, std::string_view input, std::int64_t extent,
                           RotaryMode mode) {
  const std::int64_t divisor = mode == RotaryMode::quarter ? 4 : 2;
  if (extent % divisor == 0) return;
  throw Error(fmt::format("{}: {} elements of '{}' are rotated; allowed: multiples of {}", op,
                          extent, input, divisor));
}

void require_rotary_angles(std::string_view op, const TensorDesc& x, const TensorDesc& cos,
                           const TensorDesc& sin) {
  const std::size_t rank = x.shape.size();
  bool fits = rank > 0 && cos.shape.size() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) {
    const bool is_last = i + 1 == rank;
    fits = is_last ? cos.shape[i] <= x.shape[i] && (cos.shape[i] > 0 || x.shape[i] == 0)
                   : cos.shape[i] == x.shape[i] || cos.shape[i] == 1;
  }
  if (!fits) {
    throw Error(
        fmt::format("{}: 'cos' has shape {}; allowed: {}, or 1 on axes along which it is "
                    "repeated",
                    op, to_string(cos.shape), to_string(x.shape)));
  }
  if (sin.shape == cos.shape) return;
  throw Error(fmt::format("{}: 'sin' has shape {}; allowed: {}, that of 'cos'", op,
                          to_string(sin.shape), to_string(cos.shape)));
}

RotaryAngles broadcast_angles(const Dims& x, const InputReader& cos, const InputReader& sin) {
  Dims lines = x;
  lines.back() = cos.desc().shape.back();
  return [cos, sin, count = lines.back(), view = BroadcastView(cos.desc().shape, lines)](
             std::int64_t line, std::span<double> of_cos, std::span<double> of_sin) {
    const ElementRange range{view.run_at(line * count).first, count};
    cos.read(range, of_cos);
    sin.read(range, of_sin);
  };
}

Reference rotated(const InputReader& x, std::int64_t width, std::vector<RotaryPlace> places,
                  RotaryAngles angles, Sum sum) {
  return [x, width, places = std::move(places), angles = std::move(angles), sum](
             std::size_t, ElementRange range, std::span<double> to) {
    std::vector<double> line(static_cast<std::size_t>(width)), cos(places.size()),
        sin(places.size());
    const auto element = [&](std::size_t i) {
      if (i >= places.size()) return summand(sum, line[i]);
      const auto [kept, turned, sign] = places[i];
      return summand(sum, line[kept] * cos[i]) + summand(sum, sign * line[turned] * sin[i]);
    };
    for (std::int64_t done = 0; done < range.count;) {
      const std::int64_t at = range.first + done, first = at % width;
      const std::int64_t count = std::min(width - first, range.count - done);
      x.read({at - first, width}, line);
      angles(at / width, cos, sin);
      for (std::int64_t i = 0; i < count; ++i) {
        to[static_cast<std::size_t>(done + i)] = element(static_cast<std::size_t>(first + i));
      }
      done += count;
    }
  };
}

Dims usual_angles(const Dims& x) {
  Dims shape = x;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) shape[i] = 1;
  return shape;
}

Distribution rotary_data(const Problem&) { return {DistributionKind::uniform, -1, 1}; }

}  // namespace opbench
