// The gradient of a gate, token after token, in fp32.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/index_at.h"
#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "ops/experts.h"
#include "ops/moe_gating.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct GateGradient {
  DType dtype, index;
  std::int64_t tokens, experts, k;
  GateShares shares;
  float factor, eps;

  explicit GateGradient(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        index(problem.inputs[2].dtype),
        tokens(rows_of(problem.inputs[1])),
        experts(problem.inputs[1].shape.back()),
        k(problem.inputs[0].shape.back()),
        shares(gate_shares(problem.attrs.word("shares"))),
        factor(static_cast<float>(problem.attrs.number("factor"))),
        eps(static_cast<float>(problem.attrs.number("eps"))) {}

  std::int64_t expert(const KernelArgs& args, std::int64_t t, std::int64_t j) const {
    return index_at(index, args.inputs[2], t * k + j);
  }

  // Shares in place of x, and how often each expert counts: in softmax of all experts once.
  void take_shares(const KernelArgs& args, std::int64_t t, std::vector<float>& x,
                   std::vector<float>& times) const {
    times.assign(x.size(), shares == GateShares::softmax ? 1 : 0);
    for (std::int64_t j = 0; shares != GateShares::softmax && j < k; ++j) {
      ++times.data()[expert(args, t, j)];
    }
    if (shares == GateShares::sigmoid) {
      for (float& value : x) value = 1 / (1 + std::exp(-value));
      return;
    }
    float greatest = -HUGE_VALF, sum = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (times[e] == 0) x[e] = -HUGE_VALF;
      greatest = std::max(greatest, x[e]);
    }
    for (std::size_t e = 0; e < x.size(); ++e) sum += times[e] * (x[e] = std::exp(x[e] - greatest));
    for (float& value : x) value /= sum;
  }

  void token(const KernelArgs& args, std::int64_t t) const {
    thread_local std::vector<float> s, times, dx, dy;
    s.resize(static_cast<std::size_t>(experts));
    dx.assign(s.size(), 0);
    dy.resize(static_cast<std::size_t>(k));
    load_floats(dtype, at(args.inputs[0], dtype, t * k), k, dy.data());
    load_floats(dtype, at(args.inputs[1], dtype, t * experts), experts, s.data());
    take_shares(args, t, s, times);
    float sum = 0, divisor = shares == GateShares::sigmoid ? eps : 1;
    for (std::int64_t j = 0; j < k; ++j) {
      const std::int64_t e = expert(args, t, j);
      dx.data()[e] += factor * dy.data()[j];
      sum += factor * dy.data()[j] * s.data()[e];
      if (shares == GateShares::sigmoid) divisor += s.data()[e];
    }
    for (std::size_t e = 0; e < s.size(); ++e) {
      const float slope = shares == GateShares::sigmoid ? s[e] * (1 - s[e]) : s[e];
      dx[e] = times[e] == 0 ? 0 : (dx[e] - times[e] * (sum / divisor)) / divisor * slope;
    }
    store_floats(dtype, dx.data(), experts, at(args.outputs[0], dtype, t * experts));
  }
};

const RegisteredKernel native{{
    .op = "moe_gating_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "token after token, shares by the C library in fp32, one rounding",
    .prepare = [](const Problem& problem) -> Launch {
      return [of = GateGradient(problem)](const KernelArgs& args) {
        if (of.experts == 0) return;
        parallel_ranges(of.tokens, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t t = begin; t < end; ++t) of.token(args, t);
        });
      };
    },
}};

}  // namespace
}  // namespace opbench
