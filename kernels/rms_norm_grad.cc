// The gradient of RMS norm, alone and of a sum: rows in one pass, with sums of dy*xn over blocks of
// rows, which are then added. Source: hicann/ops-nn, norm/rms_norm_grad.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rms_norm_grad.cc"
#include <hwy/foreach_target.h>

#include <cstring>

#include "kernels/rms_norm.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/rounded-inl.h"
#include "kernels/simd/row_sums-inl.h"
#include "ops/rms_norm.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Functions of vectors. kSteps: the products dy*weight and dy*xn, and xn in the latter, are
// rounded.
template <class T, bool kSteps>
struct RowGrad {
  float rstd, slope;

  template <class D>
  static HWY_INLINE hn::Vec<D> step(D d, hn::Vec<D> value) {
    return kSteps ? rounded_as<T>(d, value) : value;
  }
  template <class D>
  HWY_INLINE hn::Vec<D> xn(D d, hn::Vec<D> x) const {
    return hn::Mul(x, hn::Set(d, rstd));
  }
  /// A term of the sum of g*xn.
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> dy, hn::Vec<D> x, hn::Vec<D> weight) const {
    return hn::Mul(step(d, hn::Mul(dy, weight)), xn(d, x));
  }
  HWY_INLINE VF32 dx(VF32 dy, VF32 x, VF32 weight) const {
    const F32 d;
    const VF32 g = step(d, hn::Mul(dy, weight));
    return hn::Mul(hn::Sub(g, hn::Mul(xn(d, x), hn::Set(d, slope))), hn::Set(d, rstd));
  }
};

template <class T, bool kSteps>
struct GradOfInput : RowGrad<T, kSteps> {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x, VF32 weight) const { return this->dx(dy, x, weight); }
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x, VF32 weight, VF32 grad_sum) const {
    return hn::Add(this->dx(dy, x, weight), grad_sum);
  }
};

template <class T, bool kSteps>
struct PlusGradOfWeight : RowGrad<T, kSteps> {
  HWY_INLINE VF32 operator()(VF32 sum, VF32 dy, VF32 x) const {
    const F32 d;
    const VF32 xn = this->step(d, this->xn(d, x));
    return hn::Add(sum, this->step(d, hn::Mul(dy, xn)));
  }
};

// Rows that are computed together: the weight and the sums of the columns are read once for them.
inline constexpr std::size_t kTogether = 4;

template <class T, bool kSteps>
struct Rows {
  const T *dy[kTogether], *x[kTogether];
  RowGrad<T, kSteps> grad[kTogether];
};

// Adds the terms of `rows`, in order, to the sums of the columns.
template <std::size_t kRows, class T, bool kSteps>
HWY_INLINE void add_columns(const Rows<T, kSteps>& rows, std::size_t first, std::size_t count,
                            float* dweight) {
  const auto add = [&](VF32 sum, auto... values) HWY_ATTR {
    const VF32 of[] = {values...};
    for (std::size_t r = 0; r < kRows; ++r) {
      sum = PlusGradOfWeight<T, kSteps>{rows.grad[r]}(sum, of[2 * r], of[2 * r + 1]);
    }
    return sum;
  };
  float* const sums = dweight + first;
  const float* const before = sums;
  if constexpr (kRows == kTogether) {
    map_lanes<false>(add, count, sums, before, rows.dy[0] + first, rows.x[0] + first,
                     rows.dy[1] + first, rows.x[1] + first, rows.dy[2] + first, rows.x[2] + first,
                     rows.dy[3] + first, rows.x[3] + first);
  } else {
    map_lanes<false>(add, count, sums, before, rows.dy[0] + first, rows.x[0] + first);
  }
}

// The sums of kRows rows and of the columns in one pass over parts that stay in the L1 cache, then
// the gradient of each row.
template <std::size_t kRows, class T, bool kSteps>
void rows_as(const RmsNormGrad& of, std::int64_t row, float* dweight) {
  constexpr std::int64_t kPart = 512;
  Rows<T, kSteps> rows;
  HWY_ALIGN float lanes[kRows][kSumLanes] = {};
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::int64_t first = (row + static_cast<std::int64_t>(r)) * of.count;
    rows.dy[r] = static_cast<const T*>(of.dy) + first;
    rows.x[r] = static_cast<const T*>(of.x) + first;
    rows.grad[r] = {of.rstd[row + static_cast<std::int64_t>(r)], 0};
  }
  for (std::int64_t i = 0; i < of.count; i += kPart) {
    const std::int64_t part = std::min(kPart, of.count - i);
    for (std::size_t r = 0; r < kRows; ++r) {
      add_to_lanes(rows.grad[r], part, lanes[r], rows.dy[r] + i, rows.x[r] + i, of.weight + i);
    }
    if (dweight == nullptr) continue;
    add_columns<kRows>(rows, static_cast<std::size_t>(i), static_cast<std::size_t>(part), dweight);
  }
  const auto count = static_cast<std::size_t>(of.count);
  for (std::size_t r = 0; r < kRows; ++r) {
    rows.grad[r].slope = sum_of_lanes(lanes[r]) / static_cast<float>(of.count);
    const GradOfInput<T, kSteps> of_input{rows.grad[r]};
    const std::int64_t first = (row + static_cast<std::int64_t>(r)) * of.count;
    T* const dx = static_cast<T*>(of.dx) + first;
    if (of.grad_sum == nullptr) {
      map_row(of_input, of.streams, count, dx, rows.dy[r], rows.x[r], of.weight);
      continue;
    }
    const T* const grad_sum = static_cast<const T*>(of.grad_sum) + first;
    map_row(of_input, of.streams, count, dx, rows.dy[r], rows.x[r], of.weight, grad_sum);
    std::memcpy(static_cast<T*>(of.dx2) + first, dx, count * sizeof(T));
  }
}

template <class T, bool kSteps>
void block_as(const RmsNormGrad& of, std::int64_t block) {
  const std::int64_t begin = block * of.rows_of_block();
  const std::int64_t end = std::min(of.rows, begin + of.rows_of_block());
  constexpr auto kMany = static_cast<std::int64_t>(kTogether);
  float* const dweight = of.dweight == nullptr ? nullptr : of.dweight + block * of.count;
  if (dweight != nullptr) std::fill_n(dweight, of.count, 0.0f);
  std::int64_t row = begin;
  for (; row + kMany <= end; row += kMany) rows_as<kTogether, T, kSteps>(of, row, dweight);
  for (; row < end; ++row) rows_as<1, T, kSteps>(of, row, dweight);
  if (of.streams) hwy::FlushStream();
}

}  // namespace

void rms_norm_grad_block(const RmsNormGrad& of, std::int64_t block) {
  visit_arithmetic(of.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (of.rounds == RmsRounds::steps) return block_as<T, true>(of, block);
    block_as<T, false>(of, block);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(rms_norm_grad_block);

// The blocks of each column, added in order.
void add_blocks(const RmsNormGrad& of, float* dweight) {
  parallel_ranges(of.count, 4096, [&](std::int64_t begin, std::int64_t end) {
    std::fill(dweight + begin, dweight + end, 0.0f);
    for (std::int64_t block = 0; block < of.blocks(); ++block) {
      const float* const sums = of.dweight + block * of.count;
      for (std::int64_t i = begin; i < end; ++i) dweight[i] += sums[i];
    }
  });
}

struct Places {
  std::size_t dy, x, rstd, weight;
};

RmsNormGrad form_of(const Problem& problem, const Places& at, RmsRounds rounds) {
  const NormRows rows = rms_rows(problem.op->name, problem.inputs, at.x, at.weight, problem.attrs);
  return {.dtype = problem.inputs[0].dtype,
          .rows = rows.rows,
          .count = rows.count,
          .rounds = rounds,
          .streams = false};
}

constexpr Places kAlone{0, 1, 2, 3}, kOfSum{0, 2, 3, 4};

template <bool kAdds, RmsRounds kRounds, bool kStreams>
Launch prepare(const Problem& problem) {
  static constexpr Places kAt = kAdds ? kOfSum : kAlone;
  RmsNormGrad form = form_of(problem, kAt, kRounds);
  form.streams = kStreams && outgrows_cache(problem);
  const bool has_weight = is_given(problem.inputs, kAt.weight);
  return [form, has_weight, weight = RmsWeight(problem, kAt.weight, form.count),
          sums = std::make_shared<Scratch>(has_weight ? form.blocks() * form.count : 0)](
             const KernelArgs& args) {
    RmsNormGrad of = form;
    of.dy = args.inputs[kAt.dy];
    of.grad_sum = kAdds ? args.inputs[1] : nullptr;
    of.x = args.inputs[kAt.x];
    of.rstd = static_cast<const float*>(args.inputs[kAt.rstd]);
    of.weight = weight.of(args);
    of.dx = args.outputs[0];
    of.dx2 = kAdds ? args.outputs[1] : nullptr;
    of.dweight = has_weight ? sums->data() : nullptr;
    parallel_blocks(of.blocks(), [&](std::int64_t block) {
      HWY_DYNAMIC_DISPATCH(rms_norm_grad_block)(of, block);
    });
    if (has_weight) add_blocks(of, static_cast<float*>(args.outputs[kAdds ? 2 : 1]));
  };
}

template <bool kAdds>
std::size_t temporaries(const Problem& problem) {
  const RmsNormGrad form = form_of(problem, kAdds ? kOfSum : kAlone, RmsRounds::result);
  return static_cast<std::size_t>((form.blocks() + 1) * form.count) * sizeof(float);
}

// The statistics of a recorded call may be narrower.
template <bool kAdds>
std::string refuse_narrow_statistics(const Problem& problem) {
  const bool is_fp32 = problem.inputs[kAdds ? kOfSum.rstd : kAlone.rstd].dtype == DType::fp32;
  return is_fp32 ? "" : "rstd is fp32, as rms_norm leaves it";
}

template <bool kAdds, RmsRounds kRounds, bool kStreams>
Kernel gradient(std::string_view name, std::string_view summary) {
  return {.op = kAdds ? "add_rms_norm_grad" : "rms_norm_grad",
          .name = name,
          .family = name == "rms_norm_grad" ? "rms_norm" : "",
          .provider = name == "native" ? Provider::framework : Provider::npu,
          .summary = summary,
          .refusal = refuse_narrow_statistics<kAdds>,
          .prepare = prepare<kAdds, kRounds, kStreams>,
          .promotes = true,
          .temporary_bytes = temporaries<kAdds>};
}

Kernel before_2025() {
  Kernel kernel = gradient<false, RmsRounds::steps, true>(
      "rms_norm_grad_v1",
      "RmsNormGrad before 2025: dy*weight, xn and dy*xn are rounded before the sums");
  kernel.dtypes = {DType::fp16, DType::bf16};
  kernel.judged_as = DType::bf16;
  kernel.device_name = "RmsNormGrad";
  return kernel;
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(gradient<false, RmsRounds::result, false>(
        "native", "all in fp32: the sum of each row, its gradient, the sums of the columns")),
    RegisteredKernel(gradient<false, RmsRounds::result, true>(
        "rms_norm_grad", "RmsNormGrad: all in fp32, one rounding; streamed past the cache")),
    RegisteredKernel(before_2025()),
    RegisteredKernel(gradient<true, RmsRounds::result, false>(
        "native", "all in fp32: the gradient of rms_norm, plus that of the sum")),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
