// One number, and numbers at equal distances, written to a tensor.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fill.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/simd/elementwise.h"
#include "ops/integers.h"
#include "ops/op.h"
#include "tensor/elements.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes `bytes` bytes from an address aligned to a vector, past the cache if `stream`; `pattern`
/// repeats every element. Returns the number of bytes in whole vectors.
std::size_t write_pattern(std::uint64_t pattern, bool stream, std::size_t bytes, void* to) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d), size = lanes * sizeof(pattern);
  if (reinterpret_cast<std::uintptr_t>(to) % size != 0) return 0;
  const auto values = hn::Set(d, pattern);
  auto* const words = static_cast<std::uint64_t*>(to);
  const std::size_t whole = bytes / size * lanes;
  if (stream) {
    for (std::size_t i = 0; i < whole; i += lanes) hn::Stream(values, d, words + i);
    hwy::FlushStream();
  } else {
    for (std::size_t i = 0; i < whole; i += lanes) hn::Store(values, d, words + i);
  }
  return whole * sizeof(pattern);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(write_pattern);

/// The stored number, repeated to eight bytes.
std::uint64_t pattern_of(DType dtype, double value) {
  std::uint64_t pattern = 0;
  const std::vector<double> values(sizeof(pattern) / size_of(dtype), value);
  from_doubles(dtype, values.data(), std::ssize(values), &pattern);
  return pattern;
}

template <bool kStream>
Launch prepare_fill(const Problem& problem) {
  const DType dtype = problem.outputs[0].dtype;
  return [dtype, pattern = pattern_of(dtype, problem.attrs.number("value")),
          stream = kStream && outgrows_cache(problem.outputs[0].bytes()),
          elements = stored_elements(problem)](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      const std::size_t bytes = static_cast<std::size_t>(end - begin) * size_of(dtype);
      void* const to = at(args.outputs[0], dtype, begin);
      const std::size_t done = HWY_DYNAMIC_DISPATCH(write_pattern)(pattern, stream, bytes, to);
      visit_width(size_of(dtype), [&]<class T>(T) {
        std::fill(static_cast<T*>(to) + done / sizeof(T), static_cast<T*>(to) + bytes / sizeof(T),
                  static_cast<T>(pattern));
      });
    });
  };
}

const RegisteredKernel native_fill{{
    .op = "fill",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one pass, plain stores",
    .prepare = prepare_fill<false>,
}};

const RegisteredKernel npu_fill{{
    .op = "fill",
    .name = "fill",
    .provider = Provider::npu,
    .summary = "Fill, ZerosLike, OnesLike: one pass, streamed past the cache",
    .prepare = prepare_fill<true>,
}};

template <class T>
T number_in(const Problem& problem, const KernelArgs& args, std::size_t i, T missing) {
  if (!is_given(problem.inputs, i)) return missing;
  const DType dtype = problem.inputs[i].dtype;
  if (dtype == DType::fp64) return static_cast<T>(*static_cast<const double*>(args.inputs[i]));
  if (dtype == DType::fp32) return static_cast<T>(*static_cast<const float*>(args.inputs[i]));
  if (dtype == DType::int32)
    return static_cast<T>(*static_cast<const std::int32_t*>(args.inputs[i]));
  return static_cast<T>(*static_cast<const std::int64_t*>(args.inputs[i]));
}

constexpr std::int64_t kPiece = 256;

/// Pieces of T, which `store` converts.
template <class T, class Element, class Store>
void fill_range(const Problem& problem, const Element& element, const Store& store, void* to) {
  const DType dtype = problem.outputs[0].dtype;
  for_each_range(problem.outputs[0].elements(), [&](std::int64_t begin, std::int64_t end) {
    T values[kPiece];
    for (std::int64_t first = begin; first < end; first += kPiece) {
      const std::int64_t count = std::min(kPiece, end - first);
      for (std::int64_t i = 0; i < count; ++i) values[i] = element(first + i);
      store(values, count, at(to, dtype, first));
    }
  });
}

Launch prepare_range(const Problem& problem) {
  return [problem](const KernelArgs& args) {
    const DType dtype = problem.outputs[0].dtype;
    const bool is_whole =
        is_integer(dtype) &&
        std::none_of(problem.inputs.begin(), problem.inputs.end(),
                     [](const TensorDesc& input) { return is_floating(input.dtype); });
    if (is_whole) {
      const auto start = number_in<std::int64_t>(problem, args, 1, 0);
      const auto step = number_in<std::int64_t>(problem, args, 2, 1);
      return fill_range<std::int64_t>(
          problem, [=](std::int64_t i) { return integer_sum(start, integer_product(i, step)); },
          [=](const std::int64_t* values, std::int64_t count, void* to) {
            wrap_integers({values, static_cast<std::size_t>(count)}, dtype, to);
          },
          args.outputs[0]);
    }
    const auto start = number_in<double>(problem, args, 1, 0);
    const auto step = number_in<double>(problem, args, 2, 1);
    fill_range<double>(
        problem, [=](std::int64_t i) { return std::fma(double(i), step, start); },
        [=](const double* values, std::int64_t count, void* to) {
          from_doubles(dtype, values, count, to);
        },
        args.outputs[0]);
  };
}

const RegisteredKernel native_range{{
    .op = "range",
    .name = "native",
    .provider = Provider::framework,
    .summary = "each element in fp64 or int64 from the exact numbers, stored once",
    .prepare = prepare_range,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
