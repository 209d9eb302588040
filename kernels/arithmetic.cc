// add, mul, muls and adds.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/arithmetic.cc"
#include "kernels/arithmetic.h"

#include <fmt/format.h>
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/cast.h"
#include "kernels/integers.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "ops/elementwise.h"
#include "ops/integers.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Add {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Add(a, b); }
};

struct Mul {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Mul(a, b); }
};

template <class Function>
struct WithNumber {
  float value;
  HWY_INLINE VF32 operator()(VF32 x) const { return Function{}(x, hn::Set(F32(), value)); }
};

template <class Function>
void with_number(DType dtype, float value, bool stream, std::size_t count, const void* x, void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    map(WithNumber<Function>{value}, stream, count, static_cast<T*>(y), static_cast<const T*>(x));
  });
}

// Streaming pays only if few lines are written partly. Both ends of a row are such lines unless the
// row is a whole number of lines.
bool streams_rows(const ElementwisePart& part, std::size_t size) {
  constexpr std::size_t kLine = 64, kFewLines = 4, kManyLines = 64;  // kLine: bytes
  const std::size_t bytes = part.count * size;
  return part.rows == 1 || bytes >= (bytes % kLine == 0 ? kFewLines : kManyLines) * kLine;
}

template <class Function, class T>
HWY_INLINE void binary_row(int single, bool stream, std::size_t count, const T* a, const T* b,
                           T* y) {
  if (single == 0) {
    const auto f = [value = float(*a)](VF32 x)
                       HWY_ATTR { return Function{}(hn::Set(F32(), value), x); };
    return map_row(f, stream, count, y, b);
  }
  if (single == 1) {
    const auto f = [value = float(*b)](VF32 x)
                       HWY_ATTR { return Function{}(x, hn::Set(F32(), value)); };
    return map_row(f, stream, count, y, a);
  }
  map_row(Function{}, stream, count, y, a, b);
}

template <class Function>
void binary(DType dtype, bool stream, const ElementwisePart& part) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto *a = static_cast<const T*>(part.inputs[0]),
               *b = static_cast<const T*>(part.inputs[1]);
    auto* y = static_cast<T*>(part.output);
    const bool streams = stream && streams_rows(part, sizeof(T));
    for (std::size_t row = 0; row < part.rows; ++row) {
      binary_row<Function>(part.single, streams, part.count, a, b, y);
      a += part.steps[0];
      b += part.steps[1];
      y += part.count;
    }
    if (streams) hwy::FlushStream();
  });
}

}  // namespace

void add(DType dtype, bool stream, const ElementwisePart& part) {
  binary<Add>(dtype, stream, part);
}

void mul(DType dtype, bool stream, const ElementwisePart& part) {
  binary<Mul>(dtype, stream, part);
}

void muls(DType dtype, float value, bool stream, std::size_t count, const void* x, void* y) {
  with_number<Mul>(dtype, value, stream, count, x, y);
}

void adds(DType dtype, float value, bool stream, std::size_t count, const void* x, void* y) {
  with_number<Add>(dtype, value, stream, count, x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(add);
HWY_EXPORT(mul);
HWY_EXPORT(muls);
HWY_EXPORT(adds);

void pass_add(DType dtype, std::int64_t count, const void* a, const void* b, void* y) {
  for_each_range(count, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(add)
    (dtype, false,
     {static_cast<std::size_t>(end - begin),
      {at(a, dtype, begin), at(b, dtype, begin)},
      at(y, dtype, begin)});
  });
}

void pass_muls(DType dtype, std::int64_t count, const void* x, float value, void* y) {
  for_each_range(count, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(muls)
    (dtype, value, false, static_cast<std::size_t>(end - begin), at(x, dtype, begin),
     at(y, dtype, begin));
  });
}

float rounded_to(DType dtype, float value) {
  visit_arithmetic(dtype, [&](auto tag) {
    double number = double(value);
    from_doubles(dtype, &number, 1, &tag);
    to_doubles(dtype, &tag, 1, &number);
    value = static_cast<float>(number);
  });
  return value;
}

std::string refuse_lost_scalar(std::string_view name, float value, DType dtype) {
  const float rounded = rounded_to(dtype, value);
  if (std::isfinite(rounded) && (rounded == 0) == (value == 0)) return {};
  return fmt::format("{} = {} is {} as {}", name, value, rounded, opbench::name(dtype));
}

namespace {

/// Both inputs and the output of one dtype.
using Binary = std::function<void(DType dtype, bool stream, const ElementwisePart& part)>;

/// A part of an input as `to`: in place, or converted into `buffer`.
const void* promoted_part(const void* from, DType dtype, DType to, std::size_t first,
                          std::size_t count, void* buffer) {
  from = at(from, dtype, static_cast<std::int64_t>(first));
  if (dtype == to) return from;
  cast_loop(dtype, to)(from, buffer, count);
  return buffer;
}

/// Inputs with another dtype than the output are converted piece by piece in the cache.
Launch prepare_promoting(const Problem& problem, Binary binary) {
  return broadcast_launch(problem, [a = problem.inputs[0].dtype, b = problem.inputs[1].dtype,
                                    y = problem.outputs[0].dtype,
                                    binary = std::move(binary)](const ElementwisePart& part) {
    constexpr std::size_t kPiece = 1024;  // elements; 4 KiB of fp32
    alignas(64) std::byte left[kPiece * sizeof(float)], right[kPiece * sizeof(float)];
    for (std::size_t first = 0; first < part.count; first += kPiece) {
      const std::size_t count = std::min(kPiece, part.count - first);
      binary(y, false,
             {count,
              {promoted_part(part.inputs[0], a, y, first, count, left),
               promoted_part(part.inputs[1], b, y, first, count, right)},
              at(part.output, y, static_cast<std::int64_t>(first))});
    }
  });
}

Launch prepare_binary(const Problem& problem, bool stream, Binary binary) {
  if (is_integer(problem.inputs[0].dtype)) return integer_launch(problem);
  if (has_mixed_dtypes(*problem.op, problem.inputs)) {
    return prepare_promoting(problem, std::move(binary));
  }
  const auto compute = [dtype = problem.inputs[0].dtype, stream, binary = std::move(binary)](
                           const ElementwisePart& part) { binary(dtype, stream, part); };
  return broadcast_launch(problem, compute, BroadcastForm::rows);
}

template <bool kStream>
Launch prepare_add(const Problem& problem) {
  return prepare_binary(problem, kStream && outgrows_cache(problem), [](auto... args) {
    HWY_DYNAMIC_DISPATCH(add)(args...);
  });
}

template <bool kStream>
Launch prepare_mul(const Problem& problem) {
  return prepare_binary(problem, kStream && outgrows_cache(problem), [](auto... args) {
    HWY_DYNAMIC_DISPATCH(mul)(args...);
  });
}

template <bool kIsSum>
Launch prepare_with_number(const Problem& problem, float value, bool stream) {
  return elementwise_launch(
      problem, [dtype = problem.inputs[0].dtype, value, stream](const ElementwisePart& part) {
        const auto compute = kIsSum ? HWY_DYNAMIC_DISPATCH(adds) : HWY_DYNAMIC_DISPATCH(muls);
        compute(dtype, value, stream, part.count, part.inputs[0], part.output);
      });
}

float value_of(const Problem& problem) { return static_cast<float>(problem.attrs.number("value")); }

const RegisteredKernel native_add{{
    .op = "add",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one pass, plain stores; inputs of another dtype converted on the way",
    .prepare = prepare_add<false>,
    .promotes = true,
}};

const RegisteredKernel npu_add{{
    .op = "add",
    .name = "add",
    .provider = Provider::npu,
    .summary = "Add: one pass, streamed past the cache",
    .dtypes = kVectorUnitDTypes,
    .prepare = prepare_add<true>,
}};

const RegisteredKernel native_mul{{
    .op = "mul",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one pass, plain stores; inputs of another dtype converted on the way",
    .prepare = prepare_mul<false>,
    .promotes = true,
}};

const RegisteredKernel npu_mul{{
    .op = "mul",
    .name = "mul",
    .provider = Provider::npu,
    .summary = "Mul: one pass, streamed past the cache",
    .dtypes = kVectorUnitDTypes,
    .prepare = prepare_mul<true>,
}};

template <bool kIsSum>
Kernel native_with_number(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = "one pass, plain stores; the number in fp32",
          .prepare = [](const Problem& problem) {
            return prepare_with_number<kIsSum>(problem, value_of(problem), false);
          }};
}

template <bool kIsSum>
Kernel npu_with_number(std::string_view op, std::string_view summary) {
  return {.op = op,
          .name = op,
          .provider = Provider::npu,
          .summary = summary,
          .refusal =
              [](const Problem& problem) {
                return refuse_lost_scalar("value", value_of(problem), problem.inputs[0].dtype);
              },
          .prepare =
              [](const Problem& problem) {
                const float value = rounded_to(problem.inputs[0].dtype, value_of(problem));
                return prepare_with_number<kIsSum>(problem, value, outgrows_cache(problem));
              }};
}

const RegisteredKernel kWithNumber[] = {
    RegisteredKernel(native_with_number<false>("muls")),
    RegisteredKernel(native_with_number<true>("adds")),
    RegisteredKernel(npu_with_number<false>(
        "muls", "Muls: the factor rounded to the dtype; one pass, streamed past the cache")),
    RegisteredKernel(npu_with_number<true>(
        "adds", "Adds: the number rounded to the dtype; one pass, streamed past the cache")),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
