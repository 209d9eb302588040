#include <fmt/format.h>

#include <limits>

#include "ops/movement.h"
#include "tensor/element_map.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::string format_problem(const AttrValue& value) {
  try {
    parse_format(std::get<std::string>(value));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string c0_problem(const AttrValue& value) {
  const auto c0 = std::get<std::int64_t>(value);
  return c0 == 0 || c0 == 8 || c0 == 16 || c0 == 32 ? ""
                                                    : "allowed: 8, 16, 32 or 0 for the default";
}

std::string groups_problem(const AttrValue& value) {
  const auto groups = std::get<std::int64_t>(value);
  return groups >= 1 && groups <= std::numeric_limits<int>::max() ? "" : "it must be 1 or more";
}

// fp16, bf16, int16: 16; 8-bit types: 32; fp32 and int32: 8 or 16; 64-bit types, which only AICPU
// supports: 16. Source: comment of TransData in CANN's transformation_ops.h.
void check_c0(DType dtype, std::int64_t c0) {
  const bool is_allowed = c0 == default_c0(dtype) || (size_of(dtype) == 4 && c0 == 8);
  if (is_allowed) return;
  throw Error(fmt::format("trans_data: c0 is {}; allowed for {}: {}{}", c0, name(dtype),
                          size_of(dtype) == 4 ? "8 or " : "", default_c0(dtype)));
}

int wanted_c0(const TensorDesc& x, const Attrs& attrs) {
  const auto c0 = static_cast<int>(attrs.integer("c0"));
  if (c0 == 0) return is_private(x.format) ? x.c0 : default_c0(x.dtype);
  return c0;
}

// Plain formats follow the rank, but NCDHW is not accepted for NCHW.
Format destination(const TensorDesc& x, const Attrs& attrs) {
  const Format wanted = parse_format(attrs.word("dst_format"));
  const std::size_t rank = x.shape.size();
  if ((wanted == Format::NCDHW && rank != 5) || (wanted == Format::NCHW && rank > 4)) {
    throw Error(fmt::format("trans_data: dst_format {} has {} extents, but x is {}", name(wanted),
                            wanted == Format::NCHW ? "up to 4" : "5", to_string(x)));
  }
  return format_for_rank(wanted, rank);
}

void check_source(const TensorDesc& x, int c0, int groups) {
  if (is_private(x.format) && x.c0 != c0) {
    throw Error(fmt::format("trans_data: c0 is {}, but x is stored with {}", c0, x.c0));
  }
  if (x.format == Format::FRACTAL_Z && x.groups != groups) {
    throw Error(
        fmt::format("trans_data: groups is {}, but x is stored as {}", groups, to_string(x)));
  }
}

TensorDesc described(const TensorDesc& x, Format format, int c0, int groups) {
  try {
    TensorDesc y = describe(x.dtype, x.shape, format);
    if (is_private(format)) y.c0 = c0;
    if (format == Format::FRACTAL_Z) y.groups = groups;
    element_count({y.storage_elements(), std::int64_t(size_of(y.dtype))});  // throws on overflow
    return y;
  } catch (const Error& error) {
    throw Error(fmt::format("trans_data: dst_format {} does not fit x = {}: {}", name(format),
                            to_string(x), error.what()));
  }
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc& x = inputs[0];
  const Format format = destination(x, attrs);
  const int c0 = wanted_c0(x, attrs);
  const auto groups = static_cast<int>(attrs.integer("groups"));
  check_c0(x.dtype, c0);
  check_source(x, c0, groups);
  if (groups != 1 && x.format != Format::FRACTAL_Z && format != Format::FRACTAL_Z) {
    throw Error(fmt::format("trans_data: groups is {} from {} to {}; only FRACTAL_Z has groups",
                            groups, name(x.format), name(format)));
  }
  TensorDesc y = described(x, format, c0, groups);
  if (x.format == format || (is_row_major(x) && is_row_major(y))) {
    throw Error(
        fmt::format("trans_data: x is {} and dst_format {} means the same storage; "
                    "choose another format on one side",
                    to_string(x), attrs.word("dst_format")));
  }
  return {std::move(y)};
}

void adapt_inputs(std::span<TensorDesc> inputs, const Attrs& attrs) {
  TensorDesc& x = inputs[0];
  const auto c0 = static_cast<int>(attrs.integer("c0"));
  if (c0 != 0 && is_private(x.format)) x.c0 = c0;
  if (x.format == Format::FRACTAL_Z) x.groups = static_cast<int>(attrs.integer("groups"));
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs&) {
  const std::int64_t count = inputs[0].desc().elements();
  return moved(inputs, [count](std::size_t, std::int64_t element) {
    return SourceRun{0, element, count - element};
  });
}

std::vector<GradientCall> gradient(const Problem& forward) {
  Attrs attrs = forward.attrs;
  attrs.put("dst_format", std::string(name(forward.inputs[0].format)));
  return {{"trans_data", {{GradientArg::output_gradient, 0}}, {0}, std::move(attrs)}};
}

const RegisteredOp registered{{
    .name = "trans_data",
    .ir_name = "npu_format_cast",
    .summary = "the same tensor stored in another format; padding becomes zero",
    .source = "torch.npu_format_cast; CANN TransData",
    .known_as = {.not_recorded = "dumps hold it as what reshape computes"},
    .inputs = {{"x", "self"}},
    .outputs = {{"y", "result"}},
    .attrs = {{"dst_format", std::string("NC1HWC0"),
               "format of the result; x has the case's format", format_problem},
              {"c0", std::int64_t{0},
               "elements of a block: 16, 32 for 8-bit types; fp32 and int32 also 8; 0: the default",
               c0_problem},
              {"groups", std::int64_t{1}, "groups of the convolution, for a weight in FRACTAL_Z",
               groups_problem}},
    .dtypes = kMovableDTypes,
    .formats = {kAllFormats.begin(), kAllFormats.end()},
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .adapt_inputs = adapt_inputs,
    .context = {.conversion = Conversion::format, .factor = unchanged},
}};

}  // namespace
}  // namespace opbench
