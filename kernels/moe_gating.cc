#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/moe_gating.cc"
#include <hwy/foreach_target.h>

#include "kernels/simd/elementwise.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

struct SigmoidOf {
  HWY_INLINE VF32 operator()(VF32 x) const { return sigmoid_of(x); }
};

void sigmoids(std::size_t count, const float* x, float* y) { map(SigmoidOf{}, false, count, y, x); }

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/softmax_lines.h"
#include "kernels/sort.h"
#include "ops/moe_gating.h"
#include "ops/order.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

HWY_EXPORT(sigmoids);

using Floats = std::vector<float>;

/// Shares from x, in place.
using ShareRow = void (*)(const Gating& of, Floats& x);

// One function of the C library after the other.
void shares_by_element(const Gating& of, Floats& x) {
  if (of.is_sigmoid) {
    for (float& value : x) value = 1 / (1 + std::exp(-value));
    return;
  }
  const float greatest = *std::max_element(x.begin(), x.end());
  float sum = 0;
  for (float& value : x) sum += value = std::exp(value - greatest);
  for (float& value : x) value /= sum;
}

void shares_in_vectors(const Gating& of, Floats& x) {
  const auto count = std::ssize(x);
  if (of.is_sigmoid) return HWY_DYNAMIC_DISPATCH(sigmoids)(x.size(), x.data(), x.data());
  const LineSum sum = sum_of_exp(DType::fp32, x.data(), count);
  scaled_softmax_line(DType::fp32, x.data(), count, sum, Share::quotient, 1, x.data());
}

bool is_before(const Placed<float>& a, const Placed<float>& b) {
  if (is_less(b.value, a.value)) return true;
  return a.place < b.place && !is_less(a.value, b.value);
}

/// The memory of a thread for one token.
struct GatedToken {
  Floats x, share, score, of_candidates;
  std::vector<Placed<float>> best, groups;

  // Experts of groups that are not among the best are out.
  void keep_best_groups(const Gating& of) {
    const std::int64_t size = of.group_size();
    groups.resize(static_cast<std::size_t>(of.groups));
    for (std::int64_t g = 0; g < of.groups; ++g) {
      of_candidates.assign(score.begin() + g * size, score.begin() + (g + 1) * size);
      std::partial_sort(of_candidates.begin(), of_candidates.begin() + (of.sums_two ? 2 : 1),
                        of_candidates.end(), [](float a, float b) { return is_less(b, a); });
      groups.data()[g] = {of_candidates[0] + (of.sums_two ? of_candidates[1] : 0), g};
    }
    std::sort(groups.begin(), groups.end(), is_before);
    for (auto g = groups.begin() + of.kept_groups; g != groups.end(); ++g) {
      std::fill_n(score.begin() + g->place * size, size, -std::numeric_limits<float>::infinity());
    }
  }

  // Few experts are inserted one by one: most candidates are worse than the last of them.
  void choose(std::int64_t k) {
    constexpr std::int64_t kFew = 32;
    if (k <= kFew) return insert_best(k);
    best.resize(score.size());
    for (std::size_t e = 0; e < score.size(); ++e) {
      best.data()[e] = {score.data()[e], static_cast<std::int64_t>(e)};
    }
    std::partial_sort(best.begin(), best.begin() + k, best.end(), is_before);
  }

  void insert_best(std::int64_t k) {
    best.resize(static_cast<std::size_t>(k));
    Placed<float>* const chosen = best.data();
    std::int64_t count = 0;
    for (std::int64_t e = 0; e < std::ssize(score); ++e) {
      const Placed<float> next{score.data()[e], e};
      if (count == k && !is_before(next, chosen[k - 1])) continue;
      std::int64_t at = count < k ? count++ : k - 1;
      for (; at > 0 && is_before(next, chosen[at - 1]); --at) chosen[at] = chosen[at - 1];
      chosen[at] = next;
    }
  }
};

struct Gate {
  Gating of;
  DType dtype;
  bool has_bias, has_mask, has_rows, has_shares;
  ShareRow shares;

  Gate(const Problem& problem, ShareRow share_row)
      : of(problem.inputs[0], problem.attrs),
        dtype(problem.inputs[0].dtype),
        has_bias(is_given(problem.inputs, 1) && problem.inputs[1].dtype != DType::boolean),
        has_mask(is_given(problem.inputs, 1) && !has_bias),
        has_rows(problem.op->name == "moe_gating_top_k_softmax"),
        has_shares(!has_rows && problem.outputs.size() > 2),
        shares(share_row) {}

  void token(const KernelArgs& args, std::int64_t t) const {
    thread_local GatedToken token;
    token.x.resize(static_cast<std::size_t>(of.experts));
    load_floats(dtype, at(args.inputs[0], dtype, t * of.experts), of.experts, token.x.data());
    score(args, token);
    if (has_shares) {
      std::copy(token.share.begin(), token.share.end(),
                static_cast<float*>(args.outputs[2]) + t * of.experts);
    }
    token.choose(of.k);
    store(args, t, token);
  }

  void score(const KernelArgs& args, GatedToken& token) const {
    token.score = token.x;
    token.share = token.x;
    if (of.by_logits) return;
    shares(of, token.share);
    token.score = token.share;
    if (has_bias) {
      load_floats(dtype, args.inputs[1], of.experts, token.x.data());
      for (std::size_t e = 0; e < token.x.size(); ++e) token.score[e] += token.x[e];
    }
    if (of.kept_groups < of.groups) token.keep_best_groups(of);
  }

  // Shares of the chosen experts, rounded once.
  void store(const KernelArgs& args, std::int64_t t, GatedToken& token) const {
    const bool is_finished = has_mask && static_cast<const bool*>(args.inputs[1])[t];
    auto* const experts = static_cast<std::int32_t*>(args.outputs[1]) + t * of.k;
    Floats& y = token.of_candidates;
    y.resize(static_cast<std::size_t>(of.k));
    for (std::int64_t j = 0; j < of.k; ++j) {
      const std::int64_t expert = token.best.data()[j].place;
      y.data()[j] = token.share.data()[expert];
      experts[j] = static_cast<std::int32_t>(is_finished ? of.experts : expert);
      if (!has_rows) continue;
      static_cast<std::int32_t*>(args.outputs[2])[t * of.k + j] =
          static_cast<std::int32_t>(j * of.tokens + t);
    }
    if (of.by_logits) shares(of, y);
    scale(y);
    store_floats(dtype, y.data(), of.k, at(args.outputs[0], dtype, t * of.k));
  }

  void scale(Floats& y) const {
    float divisor = 1;
    if (of.is_sigmoid) {
      divisor = static_cast<float>(of.eps);
      for (const float share : y) divisor += share;
    }
    const auto factor = static_cast<float>(of.factor);
    for (float& share : y) share = share / divisor * factor;
  }
};

template <ShareRow kShares>
Launch prepare(const Problem& problem) {
  return [gate = Gate(problem, kShares)](const KernelArgs& args) {
    parallel_ranges(gate.of.tokens, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) gate.token(args, t);
    });
  };
}

Kernel native(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = "shares in fp32 by the C library, a partial sort, one rounding",
          .prepare = prepare<shares_by_element>};
}

Kernel on_device(std::string_view op, std::string_view summary) {
  return {.op = op,
          .name = op,
          .provider = Provider::npu,
          .summary = summary,
          .prepare = prepare<shares_in_vectors>};
}

const RegisteredKernel kernels[] = {
    RegisteredKernel(native("moe_gating_top_k_softmax")),
    RegisteredKernel(native("moe_gating_top_k")),
    RegisteredKernel(on_device("moe_gating_top_k_softmax",
                               "MoeGatingTopKSoftmax: shares in vectors of fp32, one rounding")),
    RegisteredKernel(
        on_device("moe_gating_top_k", "MoeGatingTopK: shares in vectors of fp32, one rounding")),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
