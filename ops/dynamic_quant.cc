// Quantisation by scales that are computed from the data: by row, tensor, channel or block.
#include "ops/dynamic_quant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "ops/quantise.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "dynamic_quant", kBlockName = "dynamic_block_quant";

/// The scale and the offset of one group, and the sizes of the terms that make them.
struct GroupScale {
  double scale, offset = 0;
  double of_scale, of_offset = 0;  ///< relative to 1, and absolute
};

/// Output values of a quantiser: results before rounding, scales and offsets; their terms.
struct Quantised {
  std::vector<double> exact, terms;
  std::vector<double> scale = {}, offset = {}, scale_terms = {}, offset_terms = {};

  void add(const GroupScale& group) {
    scale.push_back(group.scale);
    offset.push_back(group.offset);
    scale_terms.push_back(std::fabs(group.scale) * group.of_scale);
    offset_terms.push_back(group.of_offset);
  }
  void set(std::size_t element, double x, const GroupScale& group) {
    const double quotient = x == 0 && group.scale == 0 ? 0 : x / group.scale;
    exact[element] = quotient + group.offset;
    terms[element] = std::fabs(quotient) * (1 + group.of_scale) + group.of_offset;
  }
  Reference values() const { return elements_of({exact, scale, offset}); }
  Reference magnitudes() const { return elements_of({terms, scale_terms, offset_terms}); }
};

// scale = max |x|/M, or (max - min)/W and offset = M - max/scale.
GroupScale scale_of(double least, double most, const Steps& steps, bool is_symmetric) {
  if (is_symmetric) return {.scale = std::fmax(-least, most) / steps.most, .of_scale = 1};
  const double scale = (most - least) / steps.width();
  const double cancelled = (std::fabs(most) + std::fabs(least)) / (most - least);
  return {.scale = scale,
          .offset = steps.most - most / scale,
          .of_scale = cancelled,
          .of_offset = steps.most + std::fabs(most / scale) * (1 + cancelled)};
}

/// The smooth scale of every element, by column; with groups of rows also by group.
std::vector<double> smoothed(std::span<const InputReader> inputs) {
  std::vector<double> x = inputs[0].read_all();
  if (!is_given(inputs, 1)) return x;
  const std::vector<double> smooth = inputs[1].read_all();
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape.back());
  std::vector<std::int64_t> ends;
  if (is_given(inputs, 2)) ends = inputs[2].read_index();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i / columns);
    const auto group =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
    const std::size_t last = smooth.size() / columns - 1;
    x[i] *= smooth[std::min(group, last) * columns + i % columns];
  }
  return x;
}

Quantised quantised(std::span<const InputReader> inputs, const Attrs& attrs) {
  const QuantGroups groups = quant_groups(inputs[0].desc().shape, attrs);
  const Steps steps = steps_of(attrs);
  const std::vector<double> x = smoothed(inputs);
  Quantised result{.exact = x, .terms = x};
  for (std::int64_t g = 0; g < groups.count; ++g) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    groups.for_each(g, [&](std::size_t i) {
      if (std::isnan(least)) return;
      least = std::isnan(x[i]) ? x[i] : std::fmin(x[i], least);
      most = std::isnan(x[i]) ? x[i] : std::fmax(x[i], most);
    });
    const GroupScale group = scale_of(least, most, steps, attrs.flag("symmetric"));
    result.add(group);
    groups.for_each(g, [&](std::size_t i) { result.set(i, x[i], group); });
  }
  return result;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].shape;
  const QuantGroups groups = quant_groups(shape, attrs);
  const std::int64_t columns = shape.back();
  const auto fits = [&](const TensorDesc& smooth) {
    return smooth.elements() > 0 && !smooth.shape.empty() && smooth.shape.back() == columns;
  };
  if (is_given(inputs, 1) && !fits(inputs[1])) {
    throw Error(fmt::format("{}: 'smooth_scales' has shape {}; allowed: [{}] or [groups,{}]", kName,
                            to_string(inputs[1].shape), columns, columns));
  }
  std::vector<TensorDesc> outputs = {describe(steps_of(attrs).dtype, shape, inputs[0].format),
                                     describe(DType::fp32, groups.scale_shape)};
  if (!attrs.flag("symmetric")) outputs.push_back(outputs[1]);
  return outputs;
}

// No source states the offset of equal numbers, which is Inf or NaN.
void check_values(const Problem& problem, std::span<const InputReader> inputs) {
  const std::int64_t rows = problem.inputs[0].elements() / problem.inputs[0].shape.back();
  std::int64_t last = 0;
  for (const std::int64_t end : is_given(inputs, 2) ? inputs[2].read_index() : Dims()) {
    if (end < last || end > rows) {
      throw Error(fmt::format(
          "{}: 'group_index' ends a group at {} after {}; allowed: ascending, at most {} rows",
          kName, end, last, rows));
    }
    last = end;
  }
  if (problem.attrs.flag("symmetric")) return;
  const std::vector<double> scales = quantised(inputs, problem.attrs).scale;
  if (std::count(scales.begin(), scales.end(), 0.0) == 0) return;
  throw Error(
      fmt::format("{}: 'x' has equal numbers in a group; their offset is undefined", kName));
}

Distribution ends_data(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  const std::int64_t groups = std::max<std::int64_t>(1, problem.inputs[2].elements());
  const double size = double(x.elements() / x.shape.back() / groups);
  return {DistributionKind::arange, size, size};
}

Dims block_shape(const Dims& shape, const Attrs& attrs) {
  Dims blocks = shape;
  blocks.back() = quotient_up(shape.back(), attrs.integer("col_block_size"));
  blocks[blocks.size() - 2] = quotient_up(shape[shape.size() - 2], attrs.integer("row_block_size"));
  return blocks;
}

// Inf and NaN do not count for the scale.
Quantised block_quantised(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const Steps steps = steps_of(attrs);
  const double min_scale = attrs.number("min_scale");
  const std::vector<double> x = inputs[0].read_all();
  Quantised result{.exact = x, .terms = x};
  for_each_block(shape, attrs, [&](const QuantBlock& block) {
    double most = 0;
    block.for_each([&](std::size_t i) {
      if (std::isfinite(x[i])) most = std::fmax(most, std::fabs(x[i]));
    });
    GroupScale group{.scale = most / steps.most, .of_scale = 1};
    if (min_scale > 0) group.scale = std::fmin(group.scale, 1 / min_scale);
    result.add(group);
    block.for_each([&](std::size_t i) { result.set(i, x[i], group); });
  });
  return result;
}

std::vector<TensorDesc> infer_blocks(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].shape;
  if (shape.size() < 2 || inputs[0].elements() == 0) {
    throw Error(fmt::format("{}: 'x' has shape {}; allowed: two or more axes, not empty",
                            kBlockName, to_string(shape)));
  }
  return {describe(steps_of(attrs).dtype, shape), describe(DType::fp32, block_shape(shape, attrs))};
}

template <Quantised (*kQuantised)(std::span<const InputReader>, const Attrs&)>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return stepped(kQuantised(inputs, attrs).values(), steps_of(attrs));
}

template <Quantised (*kQuantised)(std::span<const InputReader>, const Attrs&)>
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Quantised found = kQuantised(inputs, attrs);
  return terms_of_steps(found.values(), found.magnitudes(), steps_of(attrs));
}

std::string no_mode(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  const bool is_known = word == "pertoken" || word == "pertensor" || word == "perchannel";
  return is_known ? "" : "it must be pertoken, pertensor or perchannel";
}

std::string no_size(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
}

TensorSpec statistic(std::string_view name) {
  TensorSpec spec{name};
  spec.differentiable = false;
  return spec;
}

const RegisteredOp dynamic_quant{{
    .name = kName,
    .ir_name = "npu_dynamic_quant",
    .summary = "y = round(x*smooth/scale + offset) with scales from the largest values of rows, "
               "tensor or channels",
    .source =
        "CANN DynamicQuant, DynamicQuantV2; torch_npu.npu_dynamic_quant. A row of zeros gives "
        "scale 0 and zeros",
    .known_as = {.calls = {{"npu_dynamic_quant, DynamicQuant",
                            "input|x, smooth_scales?, group_index?",
                            "y|result0, scale|result1",
                            {.attrs = "dst_type: dtype of y|result0, quant_mode",
                             .where = "dst_type_max: 0"}},
                           {"npu_dynamic_quant_asymmetric, DynamicQuantV2",
                            "input|x, smooth_scales?, group_index?",
                            "y|result0, scale|result1, offset|result2",
                            {.attrs = "dst_type: dtype of y|result0, quant_mode, symmetric: =false",
                             .where = "dst_type_max: 0"}}},
                 .profiled = {{"DynamicQuant, DynamicQuantV2", "x, smooth_scales, group_index",
                               "y, scale, offset"}}},
    .inputs = {{"x", "input"},
               {"smooth_scales",
                "smooth_scales",
                {},
                [](const Problem&) -> Distribution {
                  return {DistributionKind::uniform, 0.5, 2};
                }},
               {"group_index", "group_index", kIndexDTypes, ends_data}},
    .outputs = {statistic("y"), statistic("scale"), statistic("offset")},
    .optional_inputs = 2,
    .attrs = {dst_type_attr(),
              {"symmetric", true, "without an offset"},
              {"quant_mode", std::string("pertoken"),
               "pertoken (rows), pertensor or perchannel (columns of the last two axes)", no_mode}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference<quantised>,
    .terms = terms<quantised>,
    .traffic = input_traffic<4>,
    .inputs_like = [](const Dims& shape, const Attrs&) -> std::vector<Dims> {
      if (shape.empty()) return {shape};
      return {shape, {shape.back()}};
    },
    .check_values = check_values,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .quantises = true,
}};

const RegisteredOp dynamic_block_quant{{
    .name = kBlockName,
    .ir_name = "npu_dynamic_block_quant",
    .summary = "y = x/scale with scales from the largest finite values of blocks of the last two "
               "axes",
    .source = "CANN DynamicBlockQuant; torch_npu.npu_dynamic_block_quant; DeepSeek-AI 2024, "
              "arXiv:2412.19437 (1x128 and 128x128)",
    .known_as = {.calls = {{"npu_dynamic_block_quant, DynamicBlockQuant",
                            "x",
                            "y|result0, scale|result1",
                            {.attrs = "dst_type: dtype of y|result0, row_block_size, "
                                      "col_block_size, min_scale"}}},
                 .profiled = {{"DynamicBlockQuant", "x", "y, scale"}}},
    .inputs = {{"x"}},
    .outputs = {statistic("y"), statistic("scale")},
    .attrs = {{"dst_type", std::string("fp8_e4m3fn"), dst_type_attr().help,
               dst_type_attr().problem},
              {"row_block_size", std::int64_t{1}, "rows of a block", no_size},
              {"col_block_size", std::int64_t{128}, "columns of a block", no_size},
              {"min_scale", 0.0, "if above 0, a scale is at most its inverse"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_blocks,
    .reference = reference<block_quantised>,
    .terms = terms<block_quantised>,
    .traffic = input_traffic<4>,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .quantises = true,
}};

}  // namespace

QuantGroups quant_groups(const Dims& shape, const Attrs& attrs) {
  const std::string& mode = attrs.word("quant_mode");
  const std::int64_t elements = element_count(shape);
  const std::size_t rank = shape.size();
  if (rank < (mode == "perchannel" ? 2u : 1u) || elements == 0) {
    throw Error(fmt::format("{}: 'x' has shape {}; allowed with {}: {} or more axes, not empty",
                            kName, to_string(shape), mode, mode == "perchannel" ? 2 : 1));
  }
  if (mode == "pertensor") return {1, elements, 1, {1}};
  const std::size_t axis = mode == "perchannel" ? rank - 2 : rank - 1;
  Dims left = shape;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  return {elements / shape[axis], shape[axis], mode == "perchannel" ? shape.back() : 1, left};
}

}  // namespace opbench
