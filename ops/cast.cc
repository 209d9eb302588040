#include "ops/cast.h"

#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/integers.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

DType target(const Attrs& attrs) { return parse_dtype(attrs.word("to")); }

void from_integers(std::span<const std::int64_t> from, DType dtype, void* to) {
  if (!is_floating(dtype)) return wrap_integers(from, dtype, to);
  thread_local std::vector<double> values;
  values.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    // fp64 rounds directly. Other dtypes round from a double that is rounded to odd, which gives
    // the rounding of the integer.
    values[i] = dtype == DType::fp64 ? static_cast<double>(from[i]) : to_odd_double(from[i]);
  }
  from_doubles(dtype, values.data(), std::ssize(from), to);
}

void from_floats(std::span<const double> from, DType dtype, void* to) {
  if (dtype != DType::uint8) return from_doubles(dtype, from.data(), std::ssize(from), to);
  for (std::size_t i = 0; i < from.size(); ++i) {
    static_cast<std::uint8_t*>(to)[i] = modulo_256(from[i]);
  }
}

void convert(DType from, const void* data, std::int64_t count, DType to, void* out) {
  thread_local std::vector<double> values;
  values.resize(static_cast<std::size_t>(count));
  to_doubles(from, data, count, values.data());
  if (to == DType::boolean) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      static_cast<std::uint8_t*>(out)[i] = values[i] != 0 ? 1 : 0;
    }
    return;
  }
  if (is_floating(from)) return from_floats(values, to, out);
  thread_local std::vector<std::int64_t> integers;
  integers.resize(values.size());
  widen_integers(from, data, integers);
  from_integers(integers, to, out);
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [x = inputs[0], to = target(attrs)](std::size_t, ElementRange range, void* out) {
    thread_local std::vector<std::byte> bits;
    const DType from = x.desc().dtype;
    bits.resize(static_cast<std::size_t>(range.count) * size_of(from));
    x.read_bits(range, bits.data());
    convert(from, bits.data(), range.count, to, out);
  };
}

// The output is stored like the input, block by block. If C0 depends on the dtype, the block
// differs.
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  TensorDesc output = inputs[0];
  output.dtype = target(attrs);
  const int from = default_c0(inputs[0].dtype), to = default_c0(output.dtype);
  if (is_private(output.format) && from != to) {
    throw Error(
        fmt::format("cast from {} to {} in {}: blocks of {} are not blocks of {}; allowed: "
                    "dtypes of the same C0, or a plain format",
                    name(inputs[0].dtype), name(output.dtype), name(output.format), from, to));
  }
  if (!is_private(output.format)) output.c0 = to;
  return {output};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const DType from = forward.inputs[0].dtype, to = forward.outputs[0].dtype;
  if (!is_floating(from) || !is_floating(to)) {
    throw Error(fmt::format("cast from {} to {} has no gradient; both must be floating", name(from),
                            name(to)));
  }
  Attrs back(forward.op->attrs);
  back.put("to", std::string(name(from)));
  return {{"cast", {{GradientArg::output_gradient, 0}}, {0}, back}};
}

const RegisteredOp registered{{
    .name = "cast",
    .ir_name = "to",
    .summary = "y = x as `to`: rounded to nearest even once, truncated, or wrapped; bool is x != 0",
    .source = "torch.Tensor.to on the CPU; CANN Cast. Floating to integer beyond its range: "
              "clamped, NaN 0, but uint8 modulo 256",
    .known_as = {.calls = {{"to, _copy_from, copy, Cast, npu_dtype_cast",
                            "src|self|x",
                            "result|self|y",
                            {.attrs = "to: dtype of result|self|y"}}},
                 .profiled = {{"Cast", "x", "y"}, {"aten::copy_", "self, src"}},
                 .torch = "{0}.to(getattr(torch, {dtype}))"},
    .inputs = {{"x", "self"}},
    .outputs = {{"result"}},
    .attrs = {{"to", std::string("fp16"), "dtype of the result", no_dtype}},
    .dtypes = {DType::fp32, DType::fp16, DType::bf16, DType::fp64, DType::int64, DType::int32,
               DType::int16, DType::int8, DType::uint8, DType::boolean, DType::fp8_e4m3fn,
               DType::fp8_e5m2, DType::hif8, DType::e8m0, DType::int4},
    .formats = kElementwiseFormats,
    .accuracy = AccuracyClass::exact_value,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .context = {.conversion = Conversion::dtype, .factor = unchanged},
}};

}  // namespace
std::string no_dtype(const AttrValue& value) {
  try {
    parse_dtype(std::get<std::string>(value));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace opbench
