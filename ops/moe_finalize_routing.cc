// The outputs of experts, weighted and added for each token, with residuals and biases.
#include "ops/moe_finalize_routing.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"
#include "ops/experts.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "moe_finalize_routing_v2";
using Of = FinalizedRouting;

void require_shape(std::string_view input, const TensorDesc& desc, const Dims& allowed) {
  if (desc.shape == allowed) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}", kName, input, to_string(desc.shape),
                          to_string(allowed)));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const bool is_padded = attrs.integer("drop_pad_mode") % 2 == 1;
  require_rank(kName, "expanded_x", inputs[Of::expanded], is_padded ? 3 : 2,
               is_padded ? "[experts, capacity, columns]" : "[rows, columns]");
  require_rank(kName, "expanded_row_idx", inputs[Of::places], 1, "one axis");
  if (is_given(inputs, Of::scales)) {
    require_rank(kName, "scales", inputs[Of::scales], 2, "[tokens, experts of a token]");
  }
  const FinalizedRouting of(inputs, attrs);
  require_shape("expanded_row_idx", inputs[Of::places], {of.tokens * of.k});
  const Dims y = {of.tokens, of.columns};
  if (is_given(inputs, Of::x1)) require_shape("x1", inputs[Of::x1], y);
  if (is_given(inputs, Of::x2)) require_shape("x2", inputs[Of::x2], y);
  const bool has_experts = is_given(inputs, Of::experts);
  if (has_experts) require_shape("expert_idx", inputs[Of::experts], {of.tokens, of.k});
  if (is_given(inputs, Of::bias)) {
    require_rank(kName, "bias", inputs[Of::bias], 2, "[experts, columns]");
    require_shape("bias", inputs[Of::bias], {inputs[Of::bias].shape[0], of.columns});
    if (!has_experts) throw Error(fmt::format("{}: 'bias' needs 'expert_idx'", kName));
  }
  return {describe(inputs[0].dtype, y)};
}

std::vector<double> all_of(std::span<const InputReader> inputs, std::size_t i) {
  return is_given(inputs, i) ? inputs[i].read_all() : std::vector<double>();
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const FinalizedRouting of(descs_of(inputs), attrs);
  const std::vector<double> x = inputs[Of::expanded].read_all(), x1 = all_of(inputs, Of::x1),
                            x2 = all_of(inputs, Of::x2), bias = all_of(inputs, Of::bias),
                            scales = all_of(inputs, Of::scales),
                            experts = all_of(inputs, Of::experts);
  const std::vector<std::int64_t> places = inputs[Of::places].read_index();
  std::vector<double> y(static_cast<std::size_t>(of.tokens * of.columns));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto token = static_cast<std::int64_t>(i) / of.columns;
    const auto column = static_cast<std::int64_t>(i) % of.columns;
    y[i] = (x1.empty() ? 0 : x1[i]) + (x2.empty() ? 0 : x2[i]);
    for (std::int64_t j = 0; j < of.k; ++j) {
      const auto copy = static_cast<std::size_t>(token * of.k + j);
      const std::int64_t row = places[static_cast<std::size_t>(of.place_of(token, j))];
      double value = of.is_row(row) ? x[static_cast<std::size_t>(row * of.columns + column)] : 0;
      if (!bias.empty()) {
        value += bias[static_cast<std::size_t>(
            static_cast<std::int64_t>(experts[copy]) * of.columns + column)];
      }
      y[i] += (scales.empty() ? 1 : scales[copy]) * value;
    }
  }
  return elements_of({std::move(y)});
}

std::vector<GradientCall> gradient(const Problem& forward) {
  using Arg = GradientArg;
  const auto is = [&](std::size_t i) { return is_given(forward.inputs, i); };
  std::vector<GradientCall> calls;
  for (const std::size_t residual : {Of::x1, Of::x2}) {
    if (is(residual)) calls.push_back({"", {{Arg::output_gradient, 0}}, {residual}});
  }
  GradientCall call{
      "moe_finalize_routing_v2_grad",
      {{Arg::input, Of::expanded}, {Arg::output_gradient, 0}, {Arg::input, Of::places}},
      {Of::expanded}};
  if (is(Of::scales)) call.of_inputs.push_back(Of::scales);
  if (is(Of::scales) || is(Of::bias)) call.args.push_back({Arg::input, Of::scales});
  if (is(Of::bias)) {
    call.args.insert(call.args.end(), {{Arg::input, Of::bias}, {Arg::input, Of::experts}});
    call.of_inputs.push_back(Of::bias);
  }
  calls.push_back(std::move(call));
  return calls;
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations =
      3 * double(problem.inputs[Of::places].elements()) * double(problem.outputs[0].shape[1]);
  return traffic;
}

void check(const Problem& problem, std::span<const InputReader> inputs) {
  if (!is_given(inputs, Of::bias)) return;
  check_index({kName, "expert_idx", problem.inputs[Of::bias].shape[0]},
              inputs[Of::experts].read_index());
}

Distribution experts_data(const Problem& problem) {
  return index_data(is_given(problem.inputs, Of::bias) ? problem.inputs[Of::bias].shape[0] : 8);
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  const std::int64_t rows = shape.empty() ? 1 : shape[0], k = rows % 2 == 0 ? 2 : 1;
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const Dims y = {rows / k, columns}, of_copies = {rows / k, k};
  return {shape, {rows}, y, y, {4, columns}, of_copies, of_copies};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_moe_finalize_routing",
    .summary = "y[t] = x1[t] + x2[t] + the sum of scales[t][j]*(expanded_x[r] + "
               "bias[expert_idx[t][j]]) over j, where r is the place of copy j; -1: zeros",
    .source = "torch_npu npu_moe_finalize_routing; CANN MoeFinalizeRoutingV2",
    .known_as = {.calls = {{"npu_moe_finalize_routing",
                            "expanded_permuted_rows, expanded_src_to_dst_row, skip1?, skip2?, "
                            "bias?, scales?, export_for_source_row?",
                            "result|out",
                            {.attrs = "drop_pad_mode"}},
                           {"MoeFinalizeRoutingV2",
                            "expanded_x, expanded_row_idx, x1?, x2?, bias?, scales?, expert_idx?",
                            "y",
                            {.attrs = "drop_pad_mode"}}},
                 .profiled = {{"npu::npu_moe_finalize_routing",
                               "expanded_permuted_rows, skip1, skip2, bias, scales, "
                               "expanded_src_to_dst_row, export_for_source_row"}},
                 .likely = [](const Shapes& inputs, const Shapes&) -> LikelyAttrs {
                   return {{{"drop_pad_mode", {inputs[0].size() == 3 ? 1.0 : 0.0}}}};
                 }},
    .inputs = {{"expanded_x", "expanded_x", {}, unit_data},
               places_of_copies("expanded_row_idx"),
               {"x1", "x1", {}, unit_data},
               {"x2", "x2", {}, unit_data},
               {"bias", "bias", {}, unit_data},
               {"scales", "scales", {}, unit_data},
               {.name = "expert_idx", .dtypes = kExpertDTypes, .data = experts_data}},
    .outputs = {{"y"}},
    .optional_inputs = 5,
    .attrs = {drop_pad_mode_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .check_values = check,
    .mixing = Mixing::sums,
}};

}  // namespace

FinalizedRouting::FinalizedRouting(std::span<const TensorDesc> inputs, const Attrs& attrs)
    : tokens(is_given(inputs, scales) ? inputs[scales].shape[0] : inputs[places].elements()),
      k(is_given(inputs, scales) ? inputs[scales].shape[1] : 1),
      columns(inputs[expanded].shape.back()),
      rows(rows_of(inputs[expanded])),
      is_by_column(attrs.integer("drop_pad_mode") < 2) {}

AttrSpec drop_pad_mode_attr() {
  return {"drop_pad_mode", std::int64_t{0},
          "0, 1: copy j of token t is at j*tokens + t; 2, 3: at t*k + j; 1, 3: expanded_x is "
          "[experts, capacity, columns]",
          [](const AttrValue& value) -> std::string {
            const auto mode = std::get<std::int64_t>(value);
            return mode >= 0 && mode <= 3 ? "" : "it must be 0, 1, 2 or 3";
          }};
}

}  // namespace opbench
