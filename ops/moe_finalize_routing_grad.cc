// The gradients of the weighted sums of experts' outputs.
#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise.h"
#include "ops/experts.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/moe_finalize_routing.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "moe_finalize_routing_v2_grad";
enum Input : std::size_t { kExpanded, kGrad, kPlaces, kScales, kBias, kExperts };

bool has(std::span<const TensorDesc> inputs, std::size_t i) { return is_given(inputs, i); }

void require(std::string_view input, const TensorDesc& desc, const Dims& allowed) {
  if (desc.shape == allowed) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}", kName, input, to_string(desc.shape),
                          to_string(allowed)));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const bool is_padded = attrs.integer("drop_pad_mode") % 2 == 1;
  require_rank(kName, "expanded_x", inputs[kExpanded], is_padded ? 3 : 2,
               is_padded ? "[experts, capacity, columns]" : "[rows, columns]");
  require_rank(kName, "grad_y", inputs[kGrad], 2, "[tokens, columns]");
  if (has(inputs, kScales)) {
    require_rank(kName, "scales", inputs[kScales], 2, "[tokens, experts of a token]");
  }
  const FinalizedRouting of = finalized_routing_of_grad(inputs, attrs);
  require("expanded_row_idx", inputs[kPlaces], {of.tokens * of.k});
  require("grad_y", inputs[kGrad], {of.tokens, of.columns});
  std::vector<TensorDesc> outputs = {describe(inputs[0].dtype, inputs[0].shape)};
  if (has(inputs, kScales)) outputs.push_back(inputs[kScales]);
  if (!has(inputs, kBias)) return outputs;
  require_rank(kName, "bias", inputs[kBias], 2, "[experts, columns]");
  require("bias", inputs[kBias], {inputs[kBias].shape[0], of.columns});
  if (!has(inputs, kExperts)) throw Error(fmt::format("{}: 'bias' needs 'expert_idx'", kName));
  require("expert_idx", inputs[kExperts], {of.tokens, of.k});
  outputs.push_back(inputs[kBias]);
  return outputs;
}

template <Sum kSum>
Reference gradients(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  const FinalizedRouting of = finalized_routing_of_grad(descs, attrs);
  const auto all_of = [&](std::size_t i) {
    return is_given(inputs, i) ? inputs[i].read_all() : std::vector<double>();
  };
  const std::vector<double> x = all_of(kExpanded), dy = all_of(kGrad), scales = all_of(kScales),
                            bias = all_of(kBias), experts = all_of(kExperts);
  const std::vector<std::int64_t> places = inputs[kPlaces].read_index();
  std::vector<double> dx(x.size()), dscales(scales.size()), dbias(bias.size());
  for (std::int64_t copy = 0; copy < of.tokens * of.k; ++copy) {
    const auto i = static_cast<std::size_t>(copy);
    const std::int64_t row =
        places[static_cast<std::size_t>(of.place_of(copy / of.k, copy % of.k))];
    for (std::int64_t c = 0; c < of.columns; ++c) {
      const double slope = dy[static_cast<std::size_t>(copy / of.k * of.columns + c)];
      const double scaled = summand(kSum, slope * (scales.empty() ? 1 : scales[i]));
      const auto at_row = static_cast<std::size_t>(row * of.columns + c);
      if (of.is_row(row)) dx[at_row] = scaled;
      double value = of.is_row(row) ? summand(kSum, x[at_row]) : 0;
      if (!bias.empty()) {
        const auto at =
            static_cast<std::size_t>(static_cast<std::int64_t>(experts[i]) * of.columns + c);
        dbias[at] += scaled;
        value += summand(kSum, bias[at]);
      }
      if (!scales.empty()) dscales[i] += summand(kSum, slope * value);
    }
  }
  std::vector<std::vector<double>> all = {std::move(dx)};
  if (!scales.empty()) all.push_back(std::move(dscales));
  if (!bias.empty()) all.push_back(std::move(dbias));
  return elements_of(std::move(all));
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const auto outputs = double(problem.outputs.size());
  traffic.operations = 2 * outputs * double(problem.inputs[kPlaces].elements()) *
                       double(problem.inputs[kGrad].shape[1]);
  return traffic;
}

void check(const Problem& problem, std::span<const InputReader> inputs) {
  check_rows_once({kName, "expanded_row_idx"}, rows_of(problem.inputs[kExpanded]),
                  inputs[kPlaces].read_index());
  if (!is_given(inputs, kBias)) return;
  check_index({kName, "expert_idx", problem.inputs[kBias].shape[0]}, inputs[kExperts].read_index());
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "NpuMoeFinalizeRoutingBackward",
    .summary = "dexpanded_x[r] = scales[t][j]*dy[t], dscales[t][j] = the sum of (expanded_x[r] + "
               "bias[expert_idx[t][j]])*dy[t], dbias[e] = the sum of scales[t][j]*dy[t], where r "
               "is the place of copy j",
    .source = "torch_npu npu_moe_finalize_routing backward; CANN MoeFinalizeRoutingV2Grad",
    .known_as = {.calls = {{"NpuMoeFinalizeRoutingBackward",
                            "expanded_permuted_rows, grads/grads_0, expanded_src_to_dst_row, "
                            "scales?, bias?, export_for_source_row?",
                            "grad_inputs/grad_inputs_0, grad_inputs/grad_inputs_4",
                            {.attrs = "drop_pad_mode", .where = "bias:"}},
                           // Its order of copies is not that of drop_pad_mode here.
                           {"MoeFinalizeRoutingV2Grad",
                            "expanded_x, grad_y, expanded_row_idx, scales?",
                            "grad_expanded_x, grad_scales",
                            {.attrs = "drop_pad_mode", .is_profiled_only = true}}},
                 .profiled = {{"MoeFinalizeRoutingV2Grad",
                               "grad_y, expanded_row_idx, expanded_x, scales",
                               "grad_expanded_x, grad_scales"}},
                 .likely = [](const Shapes& inputs, const Shapes&) -> LikelyAttrs {
                   return {{{"drop_pad_mode", {inputs[0].size() == 3 ? 1.0 : 0.0}}}};
                 }},
    .inputs = {{"expanded_x", "expanded_x", {}, unit_data},
               {"grad_y", "grads/grads_0", {}, unit_data},
               places_of_copies("expanded_row_idx"),
               {"scales", "scales", {}, unit_data},
               {"bias", "bias", {}, unit_data},
               {.name = "expert_idx",
                .dtypes = kExpertDTypes,
                .data =
                    [](const Problem& problem) {
                      return index_data(
                          is_given(problem.inputs, kBias) ? problem.inputs[kBias].shape[0] : 8);
                    }}},
    .outputs = {{"grad_expanded_x", "grad_inputs/grad_inputs_0"}, {"grad_scales"}, {"grad_bias"}},
    .optional_inputs = 3,
    .attrs = {drop_pad_mode_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = gradients<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          const Reference sums = gradients<Sum::terms>(inputs, attrs);
          return Terms{.magnitude = sums, .greatest = sums};
        },
    .traffic = traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          const std::int64_t rows = shape.empty() ? 1 : shape[0], k = rows % 2 == 0 ? 2 : 1;
          const std::int64_t columns = shape.empty() ? 1 : shape.back();
          const Dims of_copies = {rows / k, k};
          return std::vector<Dims>{shape,     {rows / k, columns}, {rows},
                                   of_copies, {4, columns},        of_copies};
        },
    .check_values = check,
    .mixing = Mixing::sums,
}};

}  // namespace

FinalizedRouting finalized_routing_of_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc none = describe(inputs[0].dtype, {0});
  return {std::vector<TensorDesc>{inputs[kExpanded], inputs[kPlaces], none, none, none,
                                  is_given(inputs, kScales) ? inputs[kScales] : none},
          attrs};
}

}  // namespace opbench
