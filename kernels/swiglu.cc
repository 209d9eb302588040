// Gates: pairs of elements of one tensor, halves of an axis or neighbours, in fp32 lanes. Source:
// hicann/ops-nn, activation/swi_glu and activation/clipped_swiglu.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/swiglu.cc"
#include "kernels/swiglu.h"

#include <hwy/foreach_target.h>

#include <cstring>

#include "kernels/index_at.h"
#include "kernels/simd/elementwise.h"
#include "kernels/swiglu-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Calls body(row, first, count) for the parts of rows in a range of pairs.
template <class Body>
void for_each_part(const Gates& of, std::int64_t begin, std::int64_t end, Body body) {
  for (std::int64_t pair = begin; pair < end;) {
    const std::int64_t first = pair % of.width, count = std::min(of.width - first, end - pair);
    body(pair / of.width, first, count);
    pair += count;
  }
}

template <class T, class Gate>
void forward_as(const Gates& of, std::int64_t begin, std::int64_t end) {
  const Gate gate(of);
  const T* const x = static_cast<const T*>(of.x);
  T* const y = static_cast<T*>(of.result);
  if (of.width == 1) {
    HWY_ALIGN float a[kPiece], b[kPiece];
    for (std::int64_t i = begin; i < end; i += kPiece) {
      const std::int64_t pairs = std::min(kPiece, end - i);
      separate(x + 2 * i, pairs, a, b);
      map_row(gate, of.streams, static_cast<std::size_t>(pairs), y + i, a, b);
    }
  } else {
    for_each_part(of, begin, end, [&](std::int64_t row, std::int64_t first, std::int64_t count) {
      const T* const a = x + 2 * row * of.width + first;
      map_row(gate, of.streams, static_cast<std::size_t>(count), y + row * of.width + first, a,
              a + of.width);
    });
  }
  if (of.streams) hwy::FlushStream();
}

template <class T, class Gate>
void backward_as(const Gates& of, std::int64_t begin, std::int64_t end) {
  const Gate gate(of);
  const T *const dy = static_cast<const T*>(of.dy), *const x = static_cast<const T*>(of.x);
  T* const dx = static_cast<T*>(of.result);
  if (of.width == 1) {
    HWY_ALIGN float a[kPiece], b[kPiece];
    for (std::int64_t i = begin; i < end; i += kPiece) {
      const auto pairs = static_cast<std::size_t>(std::min(kPiece, end - i));
      separate(x + 2 * i, static_cast<std::int64_t>(pairs), a, b);
      slope_lanes<false>(gate, pairs, dy + i, a, b, a, b);
      interleave(a, b, static_cast<std::int64_t>(pairs), dx + 2 * i);
    }
  } else {
    for_each_part(of, begin, end, [&](std::int64_t row, std::int64_t first, std::int64_t count) {
      const std::int64_t at_a = 2 * row * of.width + first, at_b = at_a + of.width;
      const T* const of_result = dy + row * of.width + first;
      const auto n = static_cast<std::size_t>(count);
      if (of.streams && can_stream(dx + at_a) && can_stream(dx + at_b)) {
        return slope_lanes<true>(gate, n, of_result, x + at_a, x + at_b, dx + at_a, dx + at_b);
      }
      slope_lanes<false>(gate, n, of_result, x + at_a, x + at_b, dx + at_a, dx + at_b);
    });
  }
  if (of.streams) hwy::FlushStream();
}

}  // namespace

void gate_range(const Gates& of, std::int64_t begin, std::int64_t end) {
  visit_arithmetic(of.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (of.kind == GateKind::clipped) {
      return of.rounds_steps ? forward_as<T, ClippedSwiGlu<T, true>>(of, begin, end)
                             : forward_as<T, ClippedSwiGlu<T, false>>(of, begin, end);
    }
    of.rounds_steps ? forward_as<T, SwiGlu<T, true>>(of, begin, end)
                    : forward_as<T, SwiGlu<T, false>>(of, begin, end);
  });
}

void gate_grad_range(const Gates& of, std::int64_t begin, std::int64_t end) {
  visit_arithmetic(of.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (of.kind == GateKind::clipped) {
      return backward_as<T, ClippedSwiGluGrad>(of, begin, end);
    }
    of.rounds_steps ? backward_as<T, SwiGluGrad<T, true>>(of, begin, end)
                    : backward_as<T, SwiGluGrad<T, false>>(of, begin, end);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(gate_range);
HWY_EXPORT(gate_grad_range);

GatePairs pairs_of(const Problem& problem, bool is_gradient) {
  const Dims& shape = problem.inputs[is_gradient ? 1 : 0].shape;
  const std::string_view op = problem.op->name;
  if (op.starts_with("clipped")) return clipped_pairs(op, shape, problem.attrs);
  return {op, shape, problem.attrs.integer("dim")};
}

Gates form_of(const Problem& problem, const GatePairs& pairs, bool rounds_steps, bool streams) {
  Gates of{.dtype = problem.inputs[0].dtype,
           .rounds_steps = rounds_steps,
           .streams = streams && outgrows_cache(problem),
           .width = pairs.width};
  if (!problem.op->name.starts_with("clipped")) return of;
  const ClippedGate numbers(problem.attrs);
  of.kind = GateKind::clipped;
  of.alpha = static_cast<float>(numbers.alpha);
  of.limit = static_cast<float>(numbers.limit);
  of.bias = static_cast<float>(numbers.bias);
  return of;
}

// The pairs before the end of the last group.
std::int64_t live(const Problem& problem, std::size_t input, const GatePairs& pairs,
                  const KernelArgs& args) {
  if (!is_given(problem.inputs, input)) return pairs.count();
  const TensorDesc& desc = problem.inputs[input];
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < desc.elements(); ++i) {
    rows += index_at(desc.dtype, args.inputs[input], i);
  }
  return live_pairs(pairs, std::span(&rows, 1));
}

template <bool kGradient, bool kSteps, bool kStreams>
Launch prepare(const Problem& problem) {
  constexpr std::size_t kGroups = kGradient ? 2 : 1;
  const GatePairs pairs = pairs_of(problem, kGradient);
  return
      [form = form_of(problem, pairs, kSteps, kStreams), pairs, problem](const KernelArgs& args) {
        Gates of = form;
        of.dy = kGradient ? args.inputs[0] : nullptr;
        of.x = args.inputs[kGradient ? 1 : 0];
        of.result = args.outputs[0];
        const std::int64_t count = live(problem, kGroups, pairs, args);
        for_each_range(count, [&](std::int64_t begin, std::int64_t end) {
          if (kGradient) return HWY_DYNAMIC_DISPATCH(gate_grad_range)(of, begin, end);
          HWY_DYNAMIC_DISPATCH(gate_range)(of, begin, end);
        });
        const std::int64_t times = kGradient ? 2 : 1, left = pairs.count() - count;
        std::memset(at(of.result, of.dtype, times * count), 0,
                    static_cast<std::size_t>(times * left) * size_of(of.dtype));
      };
}

template <bool kGradient, bool kSteps, bool kStreams>
Kernel gate(std::string_view op, std::string_view name, std::string_view device,
            std::string_view summary) {
  return {.op = op,
          .name = name,
          .family = kGradient && name != "native" ? op.substr(0, op.rfind('_')) : "",
          .provider = name == "native" ? Provider::framework : Provider::npu,
          .summary = summary,
          .prepare = prepare<kGradient, kSteps, kStreams>,
          .device_name = device};
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(gate<false, true, false>("swiglu", "native", "",
                                              "silu of the first half, rounded, times the second")),
    RegisteredKernel(gate<false, false, true>(
        "swiglu", "swiglu", "SwiGlu", "SwiGlu: in fp32, rounded once; streamed past the cache")),
    RegisteredKernel(gate<true, true, false>(
        "swiglu_grad", "native", "", "the gradients of the product and of silu, each rounded")),
    RegisteredKernel(
        gate<true, false, true>("swiglu_grad", "swiglu_grad", "SwiGluGrad",
                                "SwiGluGrad: in fp32, rounded once; streamed past the cache")),
    RegisteredKernel(gate<false, true, false>("clipped_swiglu", "native", "",
                                              "the gate of a, rounded, times b + bias")),
    RegisteredKernel(
        gate<false, false, true>("clipped_swiglu", "clipped_swiglu", "ClippedSwiglu",
                                 "ClippedSwiglu: in fp32, rounded once; streamed past the cache")),
    RegisteredKernel(gate<true, false, false>("clipped_swiglu_grad", "native", "",
                                              "both gradients in fp32, rounded once")),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
