// A flag for Inf and NaN: these are the values with bits, without the sign, that reach a limit as
// an integer. The next lower integer is the largest finite value.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/non_finite_check.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/element_map.h"
#include "tensor/elements.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// The greatest x[i] without the sign, computed with four vectors at a time.
template <class Bits>
Bits greatest(const Bits* x, std::size_t count) {
  constexpr Bits kNoSign = std::numeric_limits<Bits>::max() / 2;
  constexpr std::size_t kUnroll = 4;
  const hn::ScalableTag<Bits> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto no_sign = hn::Set(d, kNoSign);
  auto m0 = hn::Zero(d), m1 = m0, m2 = m0, m3 = m0;
  std::size_t i = 0;
  for (; i + kUnroll * lanes <= count; i += kUnroll * lanes) {
    for (std::size_t byte = 0; byte < kUnroll * lanes * sizeof(Bits); byte += 64) {
      hwy::Prefetch(reinterpret_cast<const char*>(x + i) + byte + kPrefetchBytes);
    }
    m0 = hn::Max(m0, hn::And(hn::LoadU(d, x + i), no_sign));
    m1 = hn::Max(m1, hn::And(hn::LoadU(d, x + i + lanes), no_sign));
    m2 = hn::Max(m2, hn::And(hn::LoadU(d, x + i + 2 * lanes), no_sign));
    m3 = hn::Max(m3, hn::And(hn::LoadU(d, x + i + 3 * lanes), no_sign));
  }
  HWY_ALIGN Bits of_lanes[hn::MaxLanes(d)] = {};
  hn::Store(hn::Max(hn::Max(m0, m1), hn::Max(m2, m3)), d, of_lanes);
  Bits result = *std::max_element(of_lanes, of_lanes + lanes);
  for (; i < count; ++i) result = std::max(result, static_cast<Bits>(x[i] & kNoSign));
  return result;
}

}  // namespace

std::uint32_t greatest_bits(DType dtype, const void* x, std::size_t count) {
  if (size_of(dtype) == 2) return greatest(static_cast<const std::uint16_t*>(x), count);
  return greatest(static_cast<const std::uint32_t*>(x), count);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(greatest_bits);

// True if any of `count` stored values is Inf or NaN.
using Scan = bool (*)(DType dtype, bool saturate, const void* x, std::size_t count);

std::uint32_t bits_of_infinity(DType dtype) {
  if (dtype == DType::fp16) return 0x7C00;
  return dtype == DType::bf16 ? 0x7F80 : 0x7F800000;
}

bool scan_bits(DType dtype, bool saturate, const void* x, std::size_t count) {
  const std::uint32_t limit = bits_of_infinity(dtype) - (saturate ? 1 : 0);
  return HWY_DYNAMIC_DISPATCH(greatest_bits)(dtype, x, count) >= limit;
}

bool scan_values(DType dtype, bool saturate, const void* x, std::size_t count) {
  double largest = 0;
  const std::uint32_t bits = bits_of_infinity(dtype) - 1;
  to_doubles(dtype, &bits, 1, &largest);
  const auto limit = static_cast<float>(largest);
  bool found = false;
  visit_arithmetic(dtype, [&](auto tag) {
    const auto* values = static_cast<const decltype(tag)*>(x);
    for (std::size_t i = 0; i < count; ++i) {
      const float magnitude = std::fabs(static_cast<float>(values[i]));
      found |= saturate ? !(magnitude < limit) : !(magnitude <= limit);  // NaN compares false
    }
  });
  return found;
}

// Elements that one thread scans at a time. Their scan takes several times as long as the hand-out.
constexpr std::int64_t kPart = 65536;

struct Part {
  std::size_t input;
  std::int64_t first, count;
};

class NonFiniteCheck {
 public:
  NonFiniteCheck(const Problem& problem, Scan scan)
      : inputs_(problem.inputs), saturate_(problem.attrs.flag("saturate")), scan_(scan) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::int64_t elements = inputs_[i].storage_elements();
      for (std::int64_t first = 0; first < elements; first += kPart) {
        parts_.push_back({i, first, std::min(kPart, elements - first)});
      }
    }
    found_.resize(parts_.size());
  }

  void operator()(const KernelArgs& args) {
    parallel_blocks(std::ssize(parts_), [&](std::int64_t i) {
      const auto& [input, first, count] = parts_[static_cast<std::size_t>(i)];
      const DType dtype = inputs_[input].dtype;
      found_[static_cast<std::size_t>(i)] = scan_(
          dtype, saturate_, at(args.inputs[input], dtype, first), static_cast<std::size_t>(count));
    });
    *static_cast<float*>(args.outputs[0]) = is_found(args) ? 1.0f : 0.0f;
  }

 private:
  bool is_found(const KernelArgs& args) const {
    std::size_t checked = inputs_.size();  // the padded input with clean elements
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::size_t input = parts_[i].input;
      if (found_[i] == 0 || input == checked) continue;
      if (!has_padding(inputs_[input]) || is_in_elements(inputs_[input], args.inputs[input])) {
        return true;
      }
      checked = input;
    }
    return false;
  }

  // Padding is usually zero, but not necessarily: the value may be in the padding.
  bool is_in_elements(const TensorDesc& desc, const void* storage) const {
    std::atomic<bool> found = false;
    parallel_blocks(block_count(desc), [&](std::int64_t i) {
      thread_local std::vector<std::byte> elements;
      const ElementRange range = block(desc, i);
      const auto count = static_cast<std::size_t>(range.count);
      elements.resize(count * size_of(desc.dtype));
      read_elements(desc, storage, range, elements.data());
      if (scan_(desc.dtype, saturate_, elements.data(), count)) found = true;
    });
    return found;
  }

  std::vector<TensorDesc> inputs_;
  bool saturate_;
  Scan scan_;
  std::vector<Part> parts_;
  std::vector<std::uint8_t> found_;  // by parts; bytes instead of bits, which threads would share
};

template <Scan kScan>
Launch prepare(const Problem& problem) {
  return [check = std::make_shared<NonFiniteCheck>(problem, kScan)](const KernelArgs& args) {
    (*check)(args);
  };
}

const RegisteredKernel native{{
    .op = "non_finite_check",
    .name = "native",
    .provider = Provider::framework,
    .summary = "every element widened to fp32 and compared",
    .prepare = prepare<scan_values>,
}};

const RegisteredKernel npu{{
    .op = "non_finite_check",
    .name = "non_finite_check",
    .provider = Provider::npu,
    .summary = "NonFiniteCheckOp: the greatest bit pattern of all tensors in one pass",
    .prepare = prepare<scan_bits>,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
