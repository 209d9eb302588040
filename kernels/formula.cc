#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/formula.cc"
#include "kernels/formula.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "kernels/integers.h"
#include "kernels/simd/elementwise.h"
#include "ops/integers.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

void stream_bytes(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
  const hwy::HWY_NAMESPACE::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hwy::HWY_NAMESPACE::Lanes(d);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(to) % lanes;
  std::size_t i = std::min(bytes, (lanes - beyond) % lanes);
  std::memcpy(to, from, i);
  for (; i + lanes <= bytes; i += lanes) {
    hwy::HWY_NAMESPACE::Stream(hwy::HWY_NAMESPACE::LoadU(d, from + i), d, to + i);
  }
  std::memcpy(to + i, from + i, bytes - i);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(stream_bytes);

constexpr std::size_t kPiece = 1024;  // elements; four inputs of them stay in the L1 cache
constexpr std::size_t kMostInputs = std::size(ElementwisePart{}.inputs);

std::string formula_name(const Problem& problem) {
  std::string name(problem.op->name);
  for (const AttrSpec& spec : problem.op->attrs) {
    const auto* usual = std::get_if<std::string>(&spec.default_value);
    if (usual == nullptr || problem.attrs.word(spec.name) == *usual) continue;
    name += '_' + problem.attrs.word(spec.name);
  }
  return name;
}

void narrow_to(DType dtype, const float* from, std::size_t count, void* to) {
  if (dtype == DType::fp32) {
    std::memcpy(to, from, count * sizeof(float));
  } else if (dtype == DType::fp16) {
    narrow(from, static_cast<half*>(to), count);
  } else if (dtype == DType::bf16) {
    narrow(from, static_cast<bfloat16*>(to), count);
  } else {
    std::transform(from, from + count, static_cast<std::uint8_t*>(to),
                   [](float x) { return static_cast<std::uint8_t>(x != 0); });
  }
}

/// A formula bound to a problem; broadcast_launch provides the parts.
struct BoundFormula {
  ComputePiece compute;
  Numbers numbers;
  std::vector<DType> inputs;
  DType result;
  bool streams;

  void run(const ElementwisePart& part) const {
    for (std::size_t first = 0; first < part.count; first += kPiece) {
      piece(part, first, std::min(kPiece, part.count - first));
    }
    if (streams) hwy::FlushStream();
  }

  void piece(const ElementwisePart& part, std::size_t first, std::size_t count) const {
    alignas(64) float buffers[kMostInputs][kPiece], y[kPiece];
    const float* x[kMostInputs];
    const auto place = static_cast<std::int64_t>(first);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      x[i] = widened(inputs[i], at(part.inputs[i], inputs[i], place), count, buffers[i]);
    }
    void* const to = at(part.output, result, place);
    if (result == DType::fp32 && !streams) {
      return compute(numbers, count, x, static_cast<float*>(to));
    }
    compute(numbers, count, x, y);
    if (!streams) return narrow_to(result, y, count, to);
    if (result != DType::fp32) narrow_to(result, y, count, buffers[0]);
    const void* const made = result == DType::fp32 ? y : buffers[0];
    HWY_DYNAMIC_DISPATCH(stream_bytes)
    (static_cast<const std::uint8_t*>(made), count * size_of(result),
     static_cast<std::uint8_t*>(to));
  }
};

}  // namespace

const float* widened(DType dtype, const void* from, std::size_t count, float* buffer) {
  if (dtype == DType::fp32) return static_cast<const float*>(from);
  if (dtype == DType::fp16) {
    widen(static_cast<const half*>(from), buffer, count);
  } else if (dtype == DType::bf16) {
    widen(static_cast<const bfloat16*>(from), buffer, count);
  } else {
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    std::transform(bytes, bytes + count, buffer, [](std::uint8_t x) { return float(x != 0); });
  }
  return buffer;
}

Numbers numbers_of(const Problem& problem) {
  Numbers numbers{};
  std::size_t count = 0;
  for (const AttrSpec& spec : problem.op->attrs) {
    if (!std::holds_alternative<double>(spec.default_value)) continue;
    numbers.at(count++) = static_cast<float>(problem.attrs.number(spec.name));
  }
  return numbers;
}

ComputePiece formula_named(std::span<const Formula> formulas, std::string_view name) {
  const auto found = std::find_if(formulas.begin(), formulas.end(),
                                  [&](const Formula& formula) { return formula.name == name; });
  if (found == formulas.end()) throw std::logic_error("no formula for " + std::string(name));
  return found->compute;
}

Launch formula_launch(const Problem& problem, std::span<const Formula> formulas, bool streams) {
  if (is_integer(problem.inputs[0].dtype)) return integer_launch(problem);
  BoundFormula bound{formula_named(formulas, formula_name(problem)),
                     numbers_of(problem),
                     {},
                     problem.outputs[0].dtype,
                     streams && outgrows_cache(problem)};
  for (const TensorDesc& input : problem.inputs) bound.inputs.push_back(input.dtype);
  return broadcast_launch(problem, [bound](const ElementwisePart& part) { bound.run(part); });
}

NativeFormulas::NativeFormulas(PrepareFormula prepare, bool promotes,
                               std::initializer_list<std::string_view> ops,
                               std::string_view source) {
  for (const std::string_view op : ops) {
    kernels_.emplace_back(Kernel{.op = op,
                                 .name = "native",
                                 .provider = Provider::framework,
                                 .summary = "one pass in fp32, plain stores",
                                 .prepare = prepare,
                                 .promotes = promotes},
                          source);
  }
}

Kernel npu_formula(std::string_view op, std::string_view name, std::string_view summary,
                   PrepareFormula prepare) {
  return {
      .op = op, .name = name, .provider = Provider::npu, .summary = summary, .prepare = prepare};
}

}  // namespace opbench
#endif  // HWY_ONCE
