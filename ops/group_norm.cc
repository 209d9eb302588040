// Group norm, alone and before silu, and its gradient: each group of channels of each image is
// normalised by itself.
#include "ops/group_norm.h"

#include <fmt/format.h>

#include <cmath>

#include "ops/channels.h"
#include "ops/elementwise_op.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/normalised_rows.h"
#include "ops/terms.h"
#include "tensor/dtype.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "group_norm", kGradName = "group_norm_grad",
                           kSiluName = "group_norm_silu";

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

/// One number for each channel from input `i`, or `usual` if the input is absent.
std::vector<double> channels_or(std::span<const InputReader> inputs, std::size_t i, double usual,
                                const NormGroups& of) {
  if (inputs.size() > i) return inputs[i].read_all();
  return std::vector<double>(static_cast<std::size_t>(of.channels), usual);
}

/// The groups of channels, with the inputs `weight` and `bias` or their defaults.
auto rows_of(const NormGroups& of, std::span<const InputReader> inputs, std::size_t weight,
             std::size_t bias) {
  const auto place = [of](std::size_t row, std::size_t i) { return of.channel(row, i); };
  return NormalisedRows{of.count(), channels_or(inputs, weight, 1, of),
                        channels_or(inputs, bias, 0, of), place};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormGroups of(kName, "self", inputs[0].desc().shape, attrs);
  return rows_of(of, inputs, 1, 2).reference(inputs[0].read_all(), attrs.number("eps"));
}

// CPU implementations compute a single-pass variance and round means to the dtype.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormGroups of(kName, "self", inputs[0].desc().shape, attrs);
  return rows_of(of, inputs, 1, 2).terms(inputs[0].read_all(), attrs.number("eps"), true);
}

Reference reference_silu(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [norm = reference(inputs, attrs)](std::size_t output, ElementRange range,
                                           std::span<double> to) {
    norm(output, range, to);
    for (double& z : to) z = output == 0 ? z * sigmoid(z) : z;
  };
}

// The slope of silu times the terms of its argument, and the error of its exponential.
Terms terms_silu(std::span<const InputReader> inputs, const Attrs& attrs) {
  Terms of_norm = terms(inputs, attrs);
  const auto magnitude = [norm = reference(inputs, attrs), before = of_norm.magnitude](
                             std::size_t output, ElementRange range, std::span<double> to) {
    before(output, range, to);
    if (output != 0) return;
    std::vector<double> z(to.size());
    norm(output, range, z);
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double s = sigmoid(z[i]), size = std::fabs(z[i]);
      to[i] = to[i] * s * (1 + size * (1 - s)) + size * s * (1 + size);
    }
  };
  return {.magnitude = magnitude, .greatest = of_norm.greatest};
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

template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormGroups of(kGradName, "self", inputs[1].desc().shape, attrs);
  return rows_of(of, inputs, 4, 5).gradient<kSum>(inputs);
}

std::vector<GradientCall> gradient(const Problem& forward) {
  return gradient_of_normalised(kGradName, forward);
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

Op norm_op() {
  return {
      .name = kName,
      .ir_name = "native_group_norm",
      .summary =
          "y = (x - mean)/sqrt(variance + eps)*weight + bias, by groups of channels; their "
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
      .outputs = {{"result"},
                  statistic_of_rows("mean", nullptr),
                  statistic_of_rows("rstd", nullptr)},
      .optional_inputs = 2,
      .attrs = {groups_attr(), batch_norm_eps()},
      .dtypes = kArithmeticDTypes,
      .formats = kPlainFormats,
      .infer = infer,
      .reference = reference,
      .terms = terms,
      .traffic = input_traffic<7>,
      .gradient = gradient,
      .inputs_like = inputs_like,
      .mixing = Mixing::other,
      .context = {.needs_fp32 = true},
  };
}

const RegisteredOp registered{norm_op()};

// The statistics have one number for each group of each image.
LikelyAttrs likely_groups(const Shapes&, const Shapes& outputs) {
  if (outputs.size() < 2 || outputs[1].empty()) return {};
  const std::vector<double> groups = {double(outputs[1].back())};
  return {{{"group", groups}, {"num_groups", groups}}};
}

Op silu_op() {
  Op op = norm_op();
  op.name = kSiluName;
  op.ir_name = "npu_group_norm_silu";
  op.summary = "y = z*sigmoid(z), z the result of group_norm; the means and inverse deviations";
  op.source = "CANN GroupNormSilu";
  op.known_as = {
      .calls = {{"npu_group_norm_silu, GroupNormSilu",
                 "input|x, weight|gamma?, bias|beta?",
                 "result|result0|y, result1|mean, result2|rstd",
                 {.attrs = "groups: group|num_groups, eps", .where = "activate_silu: 1"}},
                {"npu_group_norm_swish, GroupNormSwish",
                 "input|x, weight|gamma?, bias|beta?",
                 "result|result0|y, result1|mean, result2|rstd",
                 {.attrs = "groups: num_groups, eps", .where = "swish_scale: 1"}}},
      .likely = likely_groups};
  op.reference = reference_silu;
  op.terms = terms_silu;
  op.traffic = input_traffic<11>;
  op.gradient = nullptr;
  op.takes_functions = true;
  return op;
}

const RegisteredOp registered_silu{silu_op()};

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
               statistic_of_rows("mean", unit_data),
               statistic_of_rows("rstd", scale_data),
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
    .traffic = input_traffic<13>,
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
