// Group norm and its gradient: groups of channels of each image, normalised by themselves.
#include "ops/group_norm.h"

#include <fmt/format.h>

#include <cmath>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/dtype.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "group_norm", kGradName = "group_norm_grad";

enum Output : std::size_t { kNormalised, kMean, kRstd };

void require_channels(std::string_view op, std::string_view input, const TensorDesc& desc,
                      const NormGroups& of) {
  if (desc.shape == Dims{of.channels}) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, one number for each channel", op,
                          input, to_string(desc.shape), of.channels));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const NormGroups of(kName, "self", inputs[0].shape, attrs);
  if (inputs.size() > 1) require_channels(kName, "weight", inputs[1], of);
  if (inputs.size() > 2) require_channels(kName, "bias", inputs[2], of);
  const TensorDesc statistics = describe(DType::fp32, {of.images, of.groups});
  return {inputs[0], statistics, statistics};
}

/// Of input `i`, one number for each channel; `usual` where it is left out.
std::vector<double> channels_or(std::span<const InputReader> inputs, std::size_t i, double usual,
                                const NormGroups& of) {
  if (inputs.size() > i) return inputs[i].read_all();
  return std::vector<double>(static_cast<std::size_t>(of.channels), usual);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormGroups of(kName, "self", inputs[0].desc().shape, attrs);
  const double n = double(of.count());
  const std::vector<double> weight = channels_or(inputs, 1, 1, of);
  const std::vector<double> bias = channels_or(inputs, 2, 0, of);
  std::vector<double> y = inputs[0].read_all(), means, rstds;
  for (std::int64_t r = 0; r < of.rows(); ++r) {
    const std::span<double> row(y.data() + r * of.count(), static_cast<std::size_t>(of.count()));
    double sum = 0, squares = 0;
    for (const double x : row) sum += x;
    for (const double x : row) squares += (x - sum / n) * (x - sum / n);
    means.push_back(sum / n);
    rstds.push_back(1 / std::sqrt(squares / n + attrs.number("eps")));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t c = of.channel(r, i);
      row[i] = (row[i] - means.back()) * rstds.back() * weight[c] + bias[c];
    }
  }
  return elements_of({std::move(y), std::move(means), std::move(rstds)});
}

// As of layer_norm: elements may be large beside what is left where their mean is taken away. On
// CPUs the variance is that of one pass, less mean^2, and means are rounded to the dtype.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormGroups of(kName, "self", inputs[0].desc().shape, attrs);
  const double n = double(of.count());
  const std::vector<double> weight = channels_or(inputs, 1, 1, of);
  const std::vector<double> bias = channels_or(inputs, 2, 0, of);
  std::vector<double> rounding = inputs[0].read_all(), means, rstds;
  std::vector<double> greatest(rounding.size()), of_rows;
  for (std::int64_t r = 0; r < of.rows(); ++r) {
    const auto first = static_cast<std::size_t>(r * of.count());
    const std::span<double> row(rounding.data() + first, static_cast<std::size_t>(of.count()));
    double sum = 0, magnitudes = 0, squares = 0;
    for (const double x : row) sum += x;
    for (const double x : row) magnitudes += std::fabs(x);
    for (const double x : row) squares += (x - sum / n) * (x - sum / n);
    const double mean = sum / n, rstd = 1 / std::sqrt(squares / n + attrs.number("eps"));
    means.push_back(magnitudes / n);
    of_rows.push_back(std::fmax(magnitudes, squares));
    // Where squares leave the range the inverse deviation is 0 and nothing is left.
    const double one_pass = 1 + mean * mean * rstd * rstd;
    const double of_all = squares > largest_finite(DType::fp32) ? 0x1p24 : one_pass;
    rstds.push_back(of_all * rstd);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t c = of.channel(r, i);
      const double before = of_all * std::fabs(row[i] - mean) + std::fabs(mean) + means.back();
      row[i] = before * rstd * std::fabs(weight[c]) + std::fabs(bias[c]);
      greatest[first + i] = of_rows.back();
    }
  }
  return {.magnitude = elements_of({std::move(rounding), std::move(means), std::move(rstds)}),
          .greatest = elements_of({std::move(greatest), of_rows, of_rows})};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise(kGradName, inputs.first(2));
  const NormGroups of(kGradName, "self", inputs[1].shape, attrs);
  for (const std::size_t i : {2, 3}) {
    if (inputs[i].elements() == of.rows()) continue;
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, one number for each group",
                            kGradName, i == 2 ? "mean" : "rstd", to_string(inputs[i].shape),
                            to_string(Dims{of.images, of.groups})));
  }
  if (inputs.size() < 5) return {inputs[0]};
  require_channels(kGradName, "weight", inputs[4], of);
  return {inputs[0], inputs[4], inputs[4]};
}

// With g = dy*weight and xn = (x - mean)*rstd: dx = (g - (sum(g) + xn*sum(g*xn))/n)*rstd by groups,
// dweight and dbias the sums of dy*xn and dy by channels.
template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormGroups of(kGradName, "self", inputs[1].desc().shape, attrs);
  const auto count = static_cast<std::size_t>(of.count());
  std::vector<double> dx = inputs[0].read_all(), x = inputs[1].read_all();
  const std::vector<double> mean = inputs[2].read_all(), rstd = inputs[3].read_all();
  const std::vector<double> weight = channels_or(inputs, 4, 1, of);
  std::vector<double> grad_weight(weight.size()), grad_bias(weight.size());
  for (std::size_t r = 0; r < mean.size(); ++r) {
    double *const dy = dx.data() + r * count, *const xn = x.data() + r * count;
    double sum = 0, product = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t c = of.channel(static_cast<std::int64_t>(r), i);
      xn[i] = subtracted(kSum, xn[i], mean[r]) * rstd[r];
      grad_weight[c] += summand(kSum, dy[i] * xn[i]);
      grad_bias[c] += summand(kSum, dy[i]);
      dy[i] *= weight[c];
      sum += summand(kSum, dy[i]);
      product += summand(kSum, dy[i] * xn[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      dy[i] = subtracted(kSum, dy[i], (sum + xn[i] * product) / double(count)) * rstd[r];
    }
  }
  return elements_of({std::move(dx), std::move(grad_weight), std::move(grad_bias)});
}

template <int kOperations>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = kOperations * double(problem.inputs[0].elements());
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{kGradName,
                    {{GradientArg::output_gradient, kNormalised},
                     {GradientArg::input, 0},
                     {GradientArg::output, kMean},
                     {GradientArg::output, kRstd}}};
  for (std::size_t i = 1; i < forward.inputs.size(); ++i) call.of_inputs.push_back(i);
  if (forward.inputs.size() > 1) call.args.push_back({GradientArg::input, 1});
  return {call};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  const NormGroups of(kName, "self", shape, attrs);
  return {shape, {of.channels}, {of.channels}};
}

std::vector<Dims> inputs_like_grad(const Dims& shape, const Attrs& attrs) {
  const NormGroups of(kGradName, "self", shape, attrs);
  return {shape, shape, {of.images, of.groups}, {of.images, of.groups}, {of.channels}};
}

AttrSpec groups_attr() {
  return {"groups", std::int64_t{1}, "of channels", [](const AttrValue& value) -> std::string {
            return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
          }};
}

TensorSpec statistic(std::string_view name, Distribution (*data)(const Problem& problem)) {
  TensorSpec spec{name, name, {DType::fp32, DType::fp16, DType::bf16}, data};
  spec.differentiable = false;
  return spec;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "native_group_norm",
    .summary = "y = (x - mean)/sqrt(variance + eps)*weight + bias, by groups of channels; their "
               "means and inverse deviations",
    .source = "torch.nn.functional.group_norm; Wu and He 2018, arXiv:1803.08494",
    .known_as = {.calls = {{"native_group_norm, group_norm",
                            "input|self, weight?, bias?",
                            "result|result0|out, result1, result2",
                            {.attrs = "groups: group|num_groups, eps", .devices = "CPU, CUDA"}},
                           {"native_group_norm, group_norm",
                            "input|self, weight?, bias?",
                            "result|result0|out",
                            {.attrs = "groups: group|num_groups, eps"}}}},
    .inputs = {{"self", "input", {}, unit_data},
               {"weight", "weight", {}, scale_data},
               {"bias", "bias", {}, unit_data}},
    .outputs = {{"result"}, statistic("mean", nullptr), statistic("rstd", nullptr)},
    .optional_inputs = 2,
    .attrs = {groups_attr(), batch_norm_eps()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic<7>,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::other,
    .context = {.needs_fp32 = true},
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "NativeGroupNormBackward",
    .summary = "dx = (g - (sum(g) + xn*sum(g*xn))/n)*rstd by groups, g = dy*weight, xn = (x - "
               "mean)*rstd; dweight = sum(dy*xn), dbias = sum(dy) by channels",
    .source = "torch.nn.functional.group_norm backward",
    .known_as =
        {.calls = {{"NativeGroupNormBackward, native_group_norm_backward",
                    "grads/grads_0|grad_out, input|self, result1|mean, result2|rstd, "
                    "weight?",
                    "grad_inputs/grad_inputs_0|result0, grad_inputs/grad_inputs_1|result1, "
                    "grad_inputs/grad_inputs_2|result2",
                    {.attrs = "groups: group", .needs = "groups", .devices = "CPU, CUDA"}}}},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"self", "input", {}, unit_data},
               statistic("mean", unit_data),
               statistic("rstd", scale_data),
               {"weight", "weight", {}, scale_data}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"},
                {"grad_weight", "grad_inputs/grad_inputs_1"},
                {"grad_bias", "grad_inputs/grad_inputs_2"}},
    .optional_inputs = 1,
    .attrs = {groups_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<Sum::terms>(inputs, attrs)};
        },
    .traffic = traffic<13>,
    .inputs_like = inputs_like_grad,
    .mixing = Mixing::other,
}};

}  // namespace

NormGroups::NormGroups(std::string_view op, std::string_view input, const Dims& shape,
                       const Attrs& attrs)
    : groups(attrs.integer("groups")) {
  const bool fits = shape.size() >= 2 && element_count(shape) > 0 && shape[1] % groups == 0;
  if (!fits) {
    throw Error(
        fmt::format("{}: '{}' has shape {}; allowed: [N, C, ...] with elements, C a "
                    "multiple of the {} groups",
                    op, input, to_string(shape), groups));
  }
  images = shape[0];
  channels = shape[1];
  inner = element_count({shape.begin() + 2, shape.end()});
}

}  // namespace opbench
