// Tensors of one number, and of numbers at equal distances.
#include <fmt/format.h>

#include <cmath>

#include "ops/cast.h"
#include "ops/elementwise.h"
#include "ops/integers.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kFill = "fill", kRange = "range";

// Only the output is written; the input states its shape and dtype.
Traffic write_traffic(const Problem& problem) {
  return {.bytes_written = double(problem.outputs[0].bytes())};
}

ExactReference filled(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [dtype = inputs[0].desc().dtype, value = attrs.number("value")](
             std::size_t, ElementRange range, void* to) {
    const std::vector<double> values(static_cast<std::size_t>(range.count), value);
    from_doubles(dtype, values.data(), range.count, to);
  };
}

const RegisteredOp fill{{
    .name = kFill,
    .ir_name = "fill_",
    .summary = "y = value everywhere, in the shape and dtype of x, which is not read",
    .source = "torch.full_like, zeros_like, ones_like, fill_; CANN Fill, ZerosLike, OnesLike",
    .known_as =
        {.calls =
             {{"zeros_like, zero, ZerosLike",
               "self|x",
               "result|self|out|y",
               {.attrs = "value: =0"}},
              {"ones_like, OnesLike", "self|x", "result|out|y", {.attrs = "value: =1"}},
              {"fill_Scalar, fill",
               "self",
               "result|self|out",
               {.attrs = "value", .needs = "value"}},
              {"full_like", "self", "result|out", {.attrs = "value: fill_value", .needs = "value"}},
              {"full, new_full",
               "output result|output out",
               "result|out",
               {.attrs = "value: fill_value", .needs = "value"}},
              {"zeros, new_zeros",
               "output result|output out",
               "result|out",
               {.attrs = "value: =0"}},
              {"ones, new_ones", "output result|output out", "result|out", {.attrs = "value: =1"}},
              {"Fill, Fills", "output y", "y", {.attrs = "value", .is_profiled_only = true}}},
         .profiled = {{"Fill", ", =value", "y"}, {"Fills", "", "y"}},
         .torch = "torch.full_like({0}, {value})"},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = {{"value", 0.0, "the number"}},
    .dtypes = kMovableDTypes,
    .formats = kElementwiseFormats,
    .accuracy = AccuracyClass::exact,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise(kFill, in); },
    .exact_reference = filled,
    .traffic = write_traffic,
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{{"", {{GradientArg::zeros_like_input, 0}}}};
        },
}};

enum RangeInput : std::size_t { kEnd, kStart, kStep };

std::vector<TensorDesc> infer_range(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_given(inputs, i) || inputs[i].elements() == 1) continue;
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: one number", kRange,
                            find_op(kRange).input_name(i), to_string(inputs[i].shape)));
  }
  return {describe(parse_dtype(attrs.word("dtype")), {attrs.integer("count")})};
}

double number_in(std::span<const InputReader> inputs, std::size_t i, double missing) {
  return is_given(inputs, i) ? inputs[i].read_all()[0] : missing;
}

std::int64_t whole_in(std::span<const InputReader> inputs, std::size_t i, std::int64_t missing) {
  return is_given(inputs, i) ? inputs[i].read_index()[0] : missing;
}

// Each element from the exact numbers, rounded once.
Reference reference_range(std::span<const InputReader> inputs, const Attrs&) {
  return [start = number_in(inputs, kStart, 0), step = number_in(inputs, kStep, 1)](
             std::size_t, ElementRange range, std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = std::fma(double(range.first) + double(i), step, start);
    }
  };
}

Terms terms_of_range(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = [start = number_in(inputs, kStart, 0), step = number_in(inputs, kStep, 1)](
                           std::size_t, ElementRange range, std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = std::fabs(start) + std::fabs((double(range.first) + double(i)) * step);
    }
  }};
}

// Whole numbers are exact; a fraction is dropped like in a cast.
ExactReference whole_range(std::span<const InputReader> inputs, const Attrs& attrs) {
  const DType dtype = parse_dtype(attrs.word("dtype"));
  const bool is_whole = std::none_of(inputs.begin(), inputs.end(), [](const InputReader& input) {
    return is_floating(input.desc().dtype);
  });
  if (!is_whole) {
    return [dtype, values = reference_range(inputs, attrs)](std::size_t output, ElementRange range,
                                                            void* to) {
      std::vector<double> numbers(static_cast<std::size_t>(range.count));
      values(output, range, numbers);
      from_doubles(dtype, numbers.data(), range.count, to);
    };
  }
  return [dtype, start = whole_in(inputs, kStart, 0), step = whole_in(inputs, kStep, 1)](
             std::size_t, ElementRange range, void* to) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(range.count));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::int64_t place = range.first + static_cast<std::int64_t>(i);
      numbers[i] = integer_sum(start, integer_product(place, step));
    }
    wrap_integers(numbers, dtype, to);
  };
}

void check_range(const Problem& problem, std::span<const InputReader> inputs) {
  const double end = number_in(inputs, kEnd, 0), start = number_in(inputs, kStart, 0);
  const double step = number_in(inputs, kStep, 1);
  const double count = std::max(0.0, std::ceil((end - start) / step));
  if (count == double(problem.outputs[0].elements())) return;
  throw Error(fmt::format("{}: from {} to {} by {} are {} numbers; 'count' is {}", kRange, start,
                          end, step, count, problem.outputs[0].elements()));
}

std::string negative(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 or more";
}

template <RangeInput kInput>
Distribution number(const Problem& problem) {
  const double values[] = {double(problem.attrs.integer("count")), 0, 1};
  return {DistributionKind::constant, values[kInput], 0};
}

const std::vector<DType> kScalarDTypes = {DType::fp64, DType::int64, DType::fp32, DType::int32};

const RegisteredOp range{{
    .name = kRange,
    .ir_name = "arange",
    .summary = "y[i] = start + i step for `count` elements, up to but without end",
    .source = "torch.arange; CANN Range",
    .known_as = {.calls = {{"arange_start_step, arange_start, arange",
                            "end, start?, step?",
                            "result|out",
                            {.attrs = "count: rows of result|out, dtype: dtype of result|out"}},
                           {"Range",
                            "limit, start, delta",
                            "y",
                            {.attrs = "count: rows of y, dtype: dtype of y",
                             .is_profiled_only = true}}},
                 .profiled = {{"Range", "start, limit, delta", "y"}},
                 .torch = "torch.arange({1}.item() if {1} is not None else 0, {0}.item(), "
                          "{2}.item() if {2} is not None else 1, dtype=getattr(torch, {dtype}))"},
    .inputs = {{.name = "end", .dtypes = kScalarDTypes, .data = number<kEnd>},
               {.name = "start", .dtypes = kScalarDTypes, .data = number<kStart>},
               {.name = "step", .dtypes = kScalarDTypes, .data = number<kStep>}},
    .outputs = {{.name = "result", .differentiable = false}},
    .optional_inputs = 2,
    .attrs = {{"count", std::int64_t{1024}, "number of elements", negative},
              {"dtype", std::string("fp32"), "of the result", no_dtype}},
    .dtypes = {DType::fp32},
    .formats = kPlainFormats,
    .infer = infer_range,
    .reference = reference_range,
    .exact_reference = whole_range,
    .terms = terms_of_range,
    .traffic = write_traffic,
    .inputs_like = [](const Dims&, const Attrs&) { return std::vector<Dims>(3, Dims{}); },
    .check_values = check_range,
}};

}  // namespace
}  // namespace opbench
