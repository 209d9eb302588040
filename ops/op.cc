#include "ops/op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/error.h"

namespace opbench {
namespace {

std::vector<double> special_values(DType dtype) {
  if (!is_floating(dtype)) return {0, 1, -1, 127, -128};
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double max = largest_finite(dtype), min_normal = smallest_normal(dtype),
               min_subnormal = smallest_unit(dtype);
  return {std::nan(""),  kInf,          -kInf, 0.0,        -0.0,        1.0,
          -1.0,          max,           -max,  min_normal, -min_normal, min_normal - min_subnormal,
          min_subnormal, -min_subnormal};
}

template <class Values>
std::string names_of(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) names.push_back(name(value));
  return fmt::format("{}", fmt::join(names, ", "));
}

template <class T>
bool contains(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string allowed_count(const Op& op) {
  if (op.variadic) return "at least 1";
  const std::size_t most = op.inputs.size();
  if (op.optional_inputs == 0) return std::to_string(most);
  return fmt::format("{} to {}", most - op.optional_inputs, most);
}

// The format that describe_inputs uses for an input of `rank` axes without an explicit format.
Format format_of_input(const TensorSpec& spec, Format format, std::size_t rank) {
  if (spec.formats.empty())
    return format_for_rank(spec.has_own_dtype() ? Format::ND : format, rank);
  const Format wanted = format_for_rank(format, rank);
  return contains(spec.formats, wanted) ? wanted : format_for_rank(spec.formats.front(), rank);
}

void check_input(const Op& op, std::size_t i, const TensorDesc& input) {
  const std::vector<DType>& dtypes = op.input(i).has_own_dtype() ? op.input(i).dtypes : op.dtypes;
  if (!contains(dtypes, input.dtype)) {
    throw Error(fmt::format("{}: input '{}' is {}; allowed: {}", op.name, op.input_name(i),
                            name(input.dtype), names_of(dtypes)));
  }
  const std::vector<Format>& own = op.input(i).formats;
  const bool is_plain = input.format == input.origin;
  if (own.empty() && op.input(i).has_own_dtype()
          ? is_plain
          : contains(own.empty() ? op.formats : own, input.format)) {
    return;
  }
  throw Error(fmt::format("{}: input '{}' of shape {} is stored as {}; allowed: {}", op.name,
                          op.input_name(i), to_string(input.shape), name(input.format),
                          names_of(own.empty() ? op.formats : own)));
}

// All inputs that follow the case's dtype have the same dtype, or are floating and promoted.
void check_inputs(const Op& op, std::span<const TensorDesc> inputs) {
  check_input_count(op, inputs.size());
  const TensorDesc* first = nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_input(op, i, inputs[i]);
    if (op.input(i).has_own_dtype()) continue;
    if (first == nullptr) first = &inputs[i];
    if (inputs[i].dtype == first->dtype) continue;
    if (op.promotes && is_floating(inputs[i].dtype) && is_floating(first->dtype)) continue;
    throw Error(fmt::format("{}: input '{}' is {}, but '{}' is {}; they must be the same{}",
                            op.name, op.input_name(i), name(inputs[i].dtype), op.input_name(0),
                            name(first->dtype), op.promotes ? ", or both floating" : ""));
  }
}

std::string numbered(std::string_view name, bool repeats, std::size_t i) {
  return repeats ? fmt::format("{}{}", name, i) : std::string(name);
}

}  // namespace

std::vector<double> InputReader::read_all() const {
  std::vector<double> values(static_cast<std::size_t>(desc_->elements()));
  read({0, desc_->elements()}, values);
  return values;
}

std::vector<std::int64_t> InputReader::read_index() const {
  const auto count = static_cast<std::size_t>(desc_->elements());
  std::vector<std::int64_t> values(count);
  const ElementRange all{0, desc_->elements()};
  if (desc_->dtype == DType::int64) {
    read_bits(all, values.data());
    return values;
  }
  if (desc_->dtype != DType::int32) {
    throw Error(fmt::format("an index must be int32 or int64, found {}", name(desc_->dtype)));
  }
  std::vector<std::int32_t> narrow_values(count);
  read_bits(all, narrow_values.data());
  std::copy(narrow_values.begin(), narrow_values.end(), values.begin());
  return values;
}

std::string Op::input_name(std::size_t i) const { return numbered(input(i).name, variadic, i); }
std::string Op::input_path(std::size_t i) const { return numbered(input(i).ir_path, variadic, i); }

std::string Op::output_name(const Problem& problem, std::size_t i) const {
  const bool repeats = problem.outputs.size() > outputs.size();
  return numbered(outputs[std::min(i, outputs.size() - 1)].name, repeats, i);
}
std::string Op::output_path(const Problem& problem, std::size_t i) const {
  const bool repeats = problem.outputs.size() > outputs.size();
  return numbered(outputs[std::min(i, outputs.size() - 1)].ir_path, repeats, i);
}

bool is_exact(const Problem& problem) {
  const Op& op = *problem.op;
  if (op.reference == nullptr || op.exact_reference == nullptr) return op.reference == nullptr;
  const DType dtype = problem.outputs[0].dtype;
  if (is_floating(dtype) || dtype == DType::boolean) return false;
  // A dump may state another dtype for the result.
  return op.infer(problem.inputs, problem.attrs)[0].dtype == dtype;
}

std::vector<TensorDesc> descs_of(std::span<const InputReader> inputs) {
  std::vector<TensorDesc> descs;
  for (const InputReader& input : inputs) descs.push_back(input.desc());
  return descs;
}

Distribution default_data(const Problem& problem, std::size_t i) {
  const TensorSpec& spec = problem.op->input(i);
  if (spec.data != nullptr) return spec.data(problem);
  const DType dtype = problem.inputs[i].dtype;
  if (is_floating(dtype)) return {};
  if (dtype == DType::boolean) return {DistributionKind::integers, 0, 1};
  if (dtype == DType::int4) return {DistributionKind::integers, -8, 7};
  return {DistributionKind::integers, dtype == DType::uint8 ? 0.0 : -100.0, 100};
}

std::vector<Dims> shapes_like(const Op& op, const Dims& shape, const Attrs& attrs) {
  if (op.inputs_like != nullptr) return op.inputs_like(shape, attrs);
  return std::vector<Dims>(op.inputs.size(), shape);
}

std::vector<TensorDesc> describe_inputs(const Op& op, std::span<const Dims> shapes, DType dtype,
                                        Format format, const Attrs& attrs,
                                        std::span<const std::optional<DType>> dtypes) {
  check_input_count(op, shapes.size());
  std::vector<TensorDesc> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const TensorSpec& spec = op.input(i);
    const bool is_stated = i < dtypes.size() && dtypes[i].has_value();
    const DType own = is_stated ? *dtypes[i] : spec.has_own_dtype() ? spec.dtypes.front() : dtype;
    inputs.push_back(describe(own, shapes[i], format_of_input(spec, format, shapes[i].size())));
  }
  if (op.adapt_inputs != nullptr) op.adapt_inputs(inputs, attrs);
  return inputs;
}

const Op& find_op(std::string_view name) {
  // All operators are registered before main begins. Sorted once, because each node of a plan needs
  // the list.
  static const std::vector<const Op*> sorted = RegisteredOp::all();
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [](const Op* op, std::string_view wanted) { return op->name < wanted; });
  if (found != sorted.end() && (*found)->name == name) return **found;
  std::vector<std::string> names;
  for (const Op* op : sorted) names.emplace_back(op->name);
  throw Error(fmt::format("unknown operator '{}'{}", name, suggestion(name, names)));
}

void check_input_count(const Op& op, std::size_t found) {
  const std::size_t most = op.inputs.size();
  if (op.variadic ? found >= 1 : found <= most && found + op.optional_inputs >= most) return;
  throw Error(fmt::format("{} takes {} input tensor{}, found {}", op.name, allowed_count(op),
                          op.variadic || most == 1 ? "" : "s", found));
}

Problem make_problem(const Op& op, std::vector<TensorDesc> inputs, Attrs attrs) {
  check_inputs(op, inputs);
  Problem problem{&op, std::move(inputs), {}, std::move(attrs)};
  problem.outputs = op.infer(problem.inputs, problem.attrs);
  return problem;
}

std::vector<double> corner_values(const Problem& problem) {
  const DType dtype = problem.inputs.front().dtype;
  std::vector<double> values = special_values(dtype);
  if (problem.op->corner_points != nullptr) {
    const std::vector<double> own = problem.op->corner_points(problem.attrs, dtype);
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

}  // namespace opbench
