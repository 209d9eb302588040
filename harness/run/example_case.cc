#include "harness/run/example_case.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "tensor/error.h"

namespace opbench {
namespace {

const std::vector<Dims> kShapes = {{4, 16, 6, 6}, {2, 32, 7, 7}, {37, 16},        {32, 4},
                                   {32, 32},      {655},         {2, 16, 2, 6, 6}};

// The default attributes, and the values that specialised kernels require.
std::vector<Attrs> attrs_to_try(const Op& op) {
  std::vector<Attrs> all = {Attrs(op.attrs)};
  const auto add = [&](const AttrSpec& spec, AttrValue value) {
    Attrs attrs(op.attrs);
    attrs.put(spec.name, std::move(value));
    all.push_back(std::move(attrs));
  };
  for (const AttrSpec& spec : op.attrs) {
    if (const bool* flag = std::get_if<bool>(&spec.default_value)) {
      add(spec, !*flag);
    } else if (spec.name == "groups") {
      add(spec, std::int64_t{16});
    } else if (op.name == "reshape" && spec.name == "shape") {
      Attrs attrs(op.attrs);
      attrs.set(op.attrs, "shape", "[-1]");
      all.push_back(std::move(attrs));
    }
  }
  return all;
}

// SoftplusGrad (V1) gives NaN above ln of the largest fp32 number, like on the device.
constexpr std::string_view kDefective[] = {"softplus_grad/softplus_grad"};

}  // namespace

bool is_defective(const Kernel& kernel) {
  return std::find(std::begin(kDefective), std::end(kDefective), kernel.key()) !=
         std::end(kDefective);
}

std::optional<Case> case_like(const Op& op, const Dims& shape, DType dtype, Format format,
                              const Attrs& attrs) {
  Case c;
  c.op = &op;
  c.dtype = dtype;
  c.format = format;
  c.attrs = attrs;
  c.origin = "example";
  try {
    for (Dims& input : shapes_like(op, shape, attrs))
      c.inputs.push_back({std::move(input), {}, {}});
    problem_of(c);
  } catch (const Error&) {
    return std::nullopt;
  }
  return c;
}

std::vector<DType> example_dtypes(const Op& op) {
  std::vector<DType> dtypes = op.dtypes;
  const auto fp32 = std::find(dtypes.begin(), dtypes.end(), DType::fp32);
  if (fp32 != dtypes.end()) std::rotate(dtypes.begin(), fp32, fp32 + 1);
  return dtypes;
}

std::optional<Case> example_case(const Kernel& kernel, DType dtype, Format format) {
  const Op& op = find_op(kernel.op);
  for (const Attrs& attrs : attrs_to_try(op)) {
    for (const Dims& shape : kShapes) {
      std::optional<Case> c = case_like(op, shape, dtype, format, attrs);
      if (c && refusal(kernel, problem_of(*c)).empty()) return c;
    }
  }
  return std::nullopt;
}

std::optional<Case> example_case(const Kernel& kernel) {
  const Op& op = find_op(kernel.op);
  for (const DType dtype : example_dtypes(op)) {
    for (const Format format : op.formats) {
      if (std::optional<Case> c = example_case(kernel, dtype, format)) return c;
    }
  }
  return std::nullopt;
}

}  // namespace opbench
