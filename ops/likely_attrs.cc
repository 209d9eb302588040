#include "ops/likely_attrs.h"

#include <algorithm>
#include <numeric>

namespace opbench {
namespace {

NamedNumbers window(double stride, double top, double left) {
  return {{"strides", {stride, stride}}, {"pads", {top, left}}};
}

// Channels of x divided by those of the weight: the number of groups.
double groups_of(const Dims& x, const Dims& weight) {
  if (x.size() != 4 || weight.size() != 4 || weight[1] == 0 || x[1] % weight[1] != 0) return 1;
  return double(x[1] / weight[1]);
}

LikelyAttrs of_convolution(const Dims& x, const Dims& weight) {
  constexpr int kStrides = 4, kPads = 16, kUnevenPads = 5;  // limits of the search
  LikelyAttrs all;
  for (int s = 1; s <= kStrides; ++s) {
    for (int p = 0; p < kPads; ++p) all.push_back(window(s, p, p));
  }
  for (int s = 1; s <= kStrides; ++s) {
    for (int i = 0; i < kUnevenPads * kUnevenPads; ++i) {
      all.push_back(window(s, i / kUnevenPads, i % kUnevenPads));
    }
  }
  for (NamedNumbers& one : all) one["groups"] = {groups_of(x, weight)};
  return all;
}

}  // namespace

LikelyAttrs likely_of_conv2d(const Shapes& inputs, const Shapes&) {
  return of_convolution(inputs.front(), inputs.at(1));
}

LikelyAttrs likely_of_conv2d_grad_input(const Shapes& inputs, const Shapes& outputs) {
  return of_convolution(outputs.front(), inputs.at(1));
}

LikelyAttrs likely_of_conv2d_grad_weight(const Shapes& inputs, const Shapes& outputs) {
  return of_convolution(inputs.at(1), outputs.front());
}

// The pools of well-known networks come first.
LikelyAttrs likely_of_pool(const Shapes&, const Shapes&) {
  constexpr int kUsual[][3] = {{3, 2, 1}, {3, 2, 0}, {2, 2, 0}, {3, 1, 1}, {2, 1, 0}, {7, 1, 0}};
  constexpr int kKernels = 8;  // limit of the search
  LikelyAttrs all;
  const auto add = [&](double k, double s, double p) {
    for (const double ceil : {0., 1.}) {
      NamedNumbers one = window(s, p, p);
      one["ksize"] = {k, k};
      one["ceil_mode"] = {ceil};
      all.push_back(std::move(one));
    }
  };
  for (const auto& [k, s, p] : kUsual) add(k, s, p);
  for (int k = 1; k <= kKernels; ++k) {
    for (int s = 1; s <= k; ++s) {
      for (int p = 0; 2 * p <= k; ++p) add(k, s, p);
    }
  }
  return all;
}

// The first order of axes that fits and is not the identity.
LikelyAttrs likely_of_transpose(const Shapes& inputs, const Shapes& outputs) {
  const Dims &x = inputs[0], &y = outputs[0];
  constexpr std::size_t kMostAxes = 7;  // 5040 permutations
  if (x.size() != y.size() || x.size() > kMostAxes) return {};
  std::vector<std::size_t> perm(x.size());
  std::iota(perm.begin(), perm.end(), std::size_t{0});
  while (std::next_permutation(perm.begin(), perm.end())) {
    bool fits = true;
    for (std::size_t i = 0; i < perm.size(); ++i) fits &= x[perm[i]] == y[i];
    if (fits) return {{{"perm", std::vector<double>(perm.begin(), perm.end())}}};
  }
  return {};
}

LikelyAttrs likely_of_matmul(const Shapes&, const Shapes&) {
  LikelyAttrs all;
  for (const double b : {0., 1.}) {
    for (const double a : {0., 1.}) {
      all.push_back({{"transpose_x1", {a}}, {"transpose_x2", {b}}});
    }
  }
  return all;
}

LikelyAttrs likely_of_mean(const Shapes& inputs, const Shapes& outputs) {
  const Dims &x = inputs[0], &y = outputs[0];
  const Dims kept = with_reduced_axes(x, y);
  if (kept.size() != x.size()) return {};
  NamedNumbers one{{"keep_dims", {x.size() == y.size() ? 1. : 0.}}, {"axes", {}}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (kept[i] == 1 && x[i] != 1) one["axes"].push_back(double(i));
  }
  return {one};
}

// k is the extent of the axis that differs; if all are equal, all elements of the last axis.
LikelyAttrs likely_of_topk(const Shapes& inputs, const Shapes& outputs) {
  const Dims &x = inputs[0], &y = outputs[0];
  if (x.size() != y.size() || x.empty()) return {};
  std::size_t axis = x.size() - 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) axis = i;
  }
  return {{{"k", {double(y[axis])}}, {"dim", {double(axis)}}}};
}

LikelyAttrs likely_of_max(const Shapes& inputs, const Shapes&) {
  LikelyAttrs all;
  for (const bool keeps : {false, true}) {
    for (std::size_t axis = 0; axis < inputs[0].size(); ++axis) {
      NamedNumbers& one = all.emplace_back();
      one["dimension"] = {double(axis)};
      if (keeps) one["keep_dims"] = {1};
    }
  }
  return all;
}

LikelyAttrs likely_axes(const Shapes& inputs, const Shapes&) {
  LikelyAttrs all;
  for (std::size_t axis = 0; axis < inputs[0].size(); ++axis) {
    all.push_back({{"axis", {double(axis)}}});
  }
  return all;
}

// A loss that is not a scalar was not reduced: reduction 0, none.
LikelyAttrs likely_of_loss(const Shapes&, const Shapes& outputs) {
  return outputs[0].empty() ? LikelyAttrs() : LikelyAttrs{{{"reduction", {0}}}};
}

LikelyAttrs likely_of_loss_grad(const Shapes& inputs, const Shapes&) {
  return likely_of_loss({}, inputs);
}

Dims with_reduced_axes(const Dims& x, const Dims& y) {
  if (x.size() <= y.size()) return y;
  Dims kept;
  std::size_t next = 0;
  for (const std::int64_t extent : x) {
    const bool is_kept = next < y.size() && y[next] == extent;
    kept.push_back(is_kept ? extent : 1);
    next += is_kept ? 1 : 0;
  }
  return next == y.size() ? kept : y;
}

}  // namespace opbench
