// A gated activation between two quantised products: scaled, activated and quantised again.
#include "ops/dequant_swiglu_quant.h"

#include <fmt/format.h>

#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/quantise.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "dequant_swiglu_quant";

/// The numbers of a use in fp64. A scale that is not given is 1.
struct Numbers {
  GateRule rule;
  GateShape shape;
  std::vector<double> x, weight_scale, activation_scale, quant_scale, quant_offset;
  std::vector<std::int64_t> group;

  Numbers(std::span<const InputReader> inputs, const Attrs& attrs)
      : rule(attrs), shape(gate_shape(inputs[kDequantX].desc())), x(inputs[kDequantX].read_all()) {
    const auto given = [&](DequantInput input, double usual) {
      return is_given(inputs, input) ? inputs[input].read_all() : std::vector<double>{usual};
    };
    weight_scale = given(kWeightScale, 1);
    activation_scale = given(kActivationScale, 1);
    quant_scale = given(kQuantScale, 1);
    quant_offset = given(kQuantOffset, 0);
    if (is_given(inputs, kGroupIndex)) {
      group = groups_of_rows(inputs[kGroupIndex].read_index(), shape.rows);
    } else {
      group.assign(static_cast<std::size_t>(shape.rows), 0);
    }
  }

  // Element i of the row of `width` numbers that group `g` has; or the number of a group, or of
  // all.
  static double at(const std::vector<double>& values, std::int64_t g, std::int64_t i,
                   std::int64_t width) {
    const auto size = std::ssize(values);
    const bool is_by_column = size > 1 && size % width == 0;
    const std::int64_t last = (is_by_column ? size / width : size) - 1;
    const std::int64_t group = std::min(g, last);
    return values[static_cast<std::size_t>(is_by_column ? group * width + i : group)];
  }
  double dequantised(std::int64_t row, std::int64_t column) const {
    const std::int64_t g = group[static_cast<std::size_t>(row)];
    return x[static_cast<std::size_t>(row * 2 * shape.width + column)] *
           at(weight_scale, g, column, 2 * shape.width) *
           activation_scale[activation_scale.size() == 1 ? 0 : static_cast<std::size_t>(row)];
  }
};

/// Results before rounding and scales, with the sizes of their terms.
struct Results {
  std::vector<double> exact, scale, terms, scale_terms;
};

void add_row(const Numbers& n, std::int64_t row, Results& to) {
  const std::int64_t width = n.shape.width, g = n.group[static_cast<std::size_t>(row)];
  const std::size_t first = to.exact.size();
  double most = 0, terms_of_most = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    if (g < 0) {
      to.exact.push_back(0), to.terms.push_back(0);
      continue;
    }
    const double a = n.dequantised(row, n.rule.activated(i, width)),
                 b = n.dequantised(row, n.rule.other(i, width));
    const double scale = Numbers::at(n.quant_scale, g, i, width);
    to.exact.push_back(n.rule(a, b) * scale);
    to.terms.push_back(n.rule.terms(a, b) * std::fabs(scale));
    if (std::fabs(to.exact.back()) <= most) continue;
    most = std::fabs(to.exact.back()), terms_of_most = to.terms.back();
  }
  const double scale = most / 127, relative = most == 0 ? 0 : terms_of_most / most;
  to.scale.push_back(scale), to.scale_terms.push_back(scale * (1 + relative));
  for (std::size_t i = first; g >= 0 && i < to.exact.size(); ++i) {
    const double offset =
        n.rule.is_dynamic ? 0 : Numbers::at(n.quant_offset, g, std::int64_t(i - first), width);
    const double divisor = n.rule.is_dynamic ? scale : 1;
    to.exact[i] = to.exact[i] / divisor + offset;
    to.terms[i] = to.terms[i] / divisor + std::fabs(offset);
    if (n.rule.is_dynamic) to.terms[i] += std::fabs(to.exact[i]) * (1 + relative);
  }
}

Results results_of(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Numbers numbers(inputs, attrs);
  Results results;
  for (std::int64_t row = 0; row < numbers.shape.rows; ++row) add_row(numbers, row, results);
  return results;
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  Results found = results_of(inputs, attrs);
  return stepped(elements_of({std::move(found.exact), std::move(found.scale)}),
                 steps_of(DType::int8));
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  Results found = results_of(inputs, attrs);
  return terms_of_steps(elements_of({std::move(found.exact), found.scale}),
                        elements_of({std::move(found.terms), std::move(found.scale_terms)}),
                        steps_of(DType::int8));
}

void require_elements(std::string_view input, const TensorDesc& desc, std::int64_t multiple_of,
                      bool may_be_fewer) {
  const std::int64_t count = desc.elements();
  if (count == 1 || (count > 0 && (may_be_fewer || count % multiple_of == 0))) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: [1], [{}] or [groups,{}]", kName, input,
                          to_string(desc.shape), multiple_of, multiple_of));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc& x = inputs[kDequantX];
  if (x.shape.empty() || x.shape.back() % 2 != 0 || x.elements() == 0) {
    throw Error(fmt::format("{}: 'x' has shape {}; allowed: an even number of columns, not empty",
                            kName, to_string(x.shape)));
  }
  const GateShape s = gate_shape(x);
  if (is_given(inputs, kWeightScale)) {
    require_elements("weight_scale", inputs[kWeightScale], 2 * s.width, false);
  }
  if (is_given(inputs, kActivationScale)) {
    require_elements("activation_scale", inputs[kActivationScale], s.rows, false);
  }
  for (const DequantInput input : {kQuantScale, kQuantOffset}) {
    if (!is_given(inputs, input)) continue;
    require_elements(input == kQuantScale ? "quant_scale" : "quant_offset", inputs[input], s.width,
                     is_given(inputs, kGroupIndex));
  }
  Dims shape = x.shape;
  shape.back() = s.width;
  std::vector<TensorDesc> outputs = {describe(DType::int8, shape)};
  shape.pop_back();
  if (attrs.word("quant_mode") == "dynamic") outputs.push_back(describe(DType::fp32, shape));
  return outputs;
}

// Rows of no group are undefined on devices.
void check_groups(const Problem& problem, std::span<const InputReader> inputs) {
  if (!is_given(inputs, kGroupIndex)) return;
  const std::int64_t rows = gate_shape(problem.inputs[kDequantX]).rows;
  std::int64_t left = rows;
  for (const std::int64_t count : inputs[kGroupIndex].read_index()) {
    if (count < 0 || count > left) {
      throw Error(fmt::format("{}: 'group_index' has {}; allowed: 0 to {}, the rows that are left",
                              kName, count, left));
    }
    left -= count;
  }
  if (left == 0) return;
  throw Error(
      fmt::format("{}: 'group_index' counts {} rows; allowed: all {}", kName, rows - left, rows));
}

// Groups of one size. Cases choose rows that are a multiple of the number of groups.
Distribution groups_data(const Problem& problem) {
  const std::int64_t groups = std::max<std::int64_t>(1, problem.inputs[kGroupIndex].elements());
  const std::int64_t rows = gate_shape(problem.inputs[kDequantX]).rows;
  return {DistributionKind::constant, double(rows / groups), 0};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  if (shape.empty()) return {shape};
  Dims x = shape;
  x.back() *= 2;
  const std::int64_t rows = shape.back() == 0 ? 0 : element_count(shape) / shape.back();
  return {x, {x.back()}, {rows}, {shape.back()}};
}

std::string no_quant_mode(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  return word == "static" || word == "dynamic" ? "" : "it must be static or dynamic";
}

std::string no_swiglu_mode(const AttrValue& value) {
  const std::int64_t mode = std::get<std::int64_t>(value);
  return mode >= 0 && mode <= 2 ? "" : "it must be 0, 1 or 2";
}

std::string no_limit(const AttrValue& value) {
  return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
}

TensorSpec scale_input(std::string_view name, Distribution (*data)(const Problem&)) {
  return {name, name, {}, data};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_dequant_swiglu_quant",
    .summary = "v = x*weight_scale*activation_scale; y = round(silu(one half)*other half"
               "*quant_scale/scale), by rows; static: + quant_offset in place of /scale",
    .source = "CANN DequantSwigluQuant; torch_npu.npu_dequant_swiglu_quant. Each row belongs "
              "to a group; bias and swiglu_mode 3 are not supported",
    .known_as =
        {.calls =
             {{"npu_dequant_swiglu_quant, DequantSwigluQuant",
               "x, weight_scale?, activation_scale?, quant_scale?, quant_offset?, group_index?",
               "y|result0, scale|result1",
               {.attrs = "activate_left, swiglu_mode, clamp_limit, glu_alpha, glu_bias",
                .where = "bias:, quant_mode: 1"}},
              {"npu_dequant_swiglu_quant, DequantSwigluQuant",
               "x, weight_scale?, activation_scale?, quant_scale?, quant_offset?, group_index?",
               "y|result0",
               {.attrs = "activate_left, swiglu_mode, clamp_limit, glu_alpha, glu_bias, "
                         "quant_mode: =static",
                .where = "bias:",
                .only = "quant_mode: 0"}}},
         .profiled = {{"DequantSwigluQuant",
                       "x, weight_scale, activation_scale, , quant_scale, quant_offset, "
                       "group_index",
                       "y, scale"}}},
    .inputs = {{"x", "x", {DType::int32, DType::bf16, DType::fp16}},
               scale_input("weight_scale",
                           [](const Problem&) -> Distribution {
                             return {DistributionKind::uniform, 0.01, 0.03};
                           }),
               scale_input("activation_scale",
                           [](const Problem&) -> Distribution {
                             return {DistributionKind::uniform, 0.5, 1.5};
                           }),
               scale_input("quant_scale",
                           [](const Problem&) -> Distribution {
                             return {DistributionKind::uniform, 0.5, 16};
                           }),
               scale_input("quant_offset",
                           [](const Problem&) -> Distribution {
                             return {DistributionKind::uniform, -8, 8};
                           }),
               {"group_index", "group_index", kIndexDTypes, groups_data}},
    .outputs = {{"y", "y", {}, nullptr, {}, false}, {"scale", "scale", {}, nullptr, {}, false}},
    .optional_inputs = 5,
    .attrs = {{"activate_left", false, "silu of the first half, not of the second"},
              {"quant_mode", std::string("dynamic"), "static or dynamic", no_quant_mode},
              {"swiglu_mode", std::int64_t{0},
               "0: silu of a half; 1, 2: clipped, of even elements or of the first half",
               no_swiglu_mode},
              {"clamp_limit", 7.0, "of modes 1 and 2", no_limit},
              {"glu_alpha", 1.702, "of modes 1 and 2"},
              {"glu_bias", 1.0, "of modes 1 and 2"}},
    .dtypes = {DType::fp32},
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = input_traffic<8>,
    .inputs_like = inputs_like,
    .check_values = check_groups,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
    .quantises = true,
}};

}  // namespace

GateRule::GateRule(const Attrs& attrs)
    : is_clipped(attrs.integer("swiglu_mode") != 0),
      is_interleaved(attrs.integer("swiglu_mode") == 1),
      activates_left(attrs.flag("activate_left")),
      is_dynamic(attrs.word("quant_mode") == "dynamic"),
      limit(attrs.number("clamp_limit")),
      alpha(attrs.number("glu_alpha")),
      bias(attrs.number("glu_bias")) {}

std::vector<std::int64_t> groups_of_rows(std::span<const std::int64_t> counts, std::int64_t rows) {
  std::vector<std::int64_t> groups;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const std::int64_t left = rows - std::ssize(groups);
    groups.insert(groups.end(),
                  static_cast<std::size_t>(std::clamp<std::int64_t>(counts[g], 0, left)),
                  static_cast<std::int64_t>(g));
  }
  groups.resize(static_cast<std::size_t>(rows), -1);
  return groups;
}

GateShape gate_shape(const TensorDesc& x) {
  return {x.elements() / x.shape.back(), x.shape.back() / 2};
}

}  // namespace opbench
