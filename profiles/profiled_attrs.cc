#include "profiles/profiled_attrs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace opbench {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<double> number_of(std::string_view text) {
  if (text == "True" || text == "true") return 1;
  if (text == "False" || text == "false") return 0;
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc{} && end == text.data() + text.size();
  return is_number ? std::optional(value) : std::nullopt;
}

// Cuts at commas outside brackets.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    parts.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  return parts;
}

std::optional<std::vector<double>> numbers_of(std::string_view text) {
  const bool is_list = text.starts_with('[') && text.ends_with(']') && text.size() >= 2;
  if (is_list) text = trimmed(text.substr(1, text.size() - 2));
  std::vector<double> all;
  if (is_list && text.empty()) return all;
  for (const std::string_view part : split(text)) {
    const std::optional<double> one = number_of(part);
    if (!one || (!is_list && !all.empty())) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

// [1, 1, h, w] or, where channels are last or pools think so, [1, h, w, 1].
std::vector<double> of_plane(const std::vector<double>& all, bool is_channels_last) {
  if (all.size() != 4) return all;
  if (is_channels_last || (all[1] != 1 && all[3] == 1)) return {all[1], all[2]};
  return {all[2], all[3]};
}

}  // namespace

NamedNumbers attrs_of_log(std::string_view op, std::string_view logged) {
  NamedNumbers attrs;
  bool is_channels_last = false;
  if (logged.starts_with('{')) logged.remove_prefix(1);
  if (logged.ends_with('}')) logged.remove_suffix(1);
  for (const std::string_view part : split(logged)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = trimmed(part.substr(equals + 1));
    const std::string key(trimmed(part.substr(0, equals)));
    if (key == "data_format") is_channels_last = value == "NHWC";
    if (auto numbers = numbers_of(value)) attrs[key] = *std::move(numbers);
  }
  for (auto& [key, value] : attrs) {
    if (key == "strides" || key == "dilations" || key == "ksize") {
      value = of_plane(value, is_channels_last);
    } else if (key == "pads" && value.size() == 4) {
      // Above, below, left, right; [1, h, w, 1] of this pool.
      const bool is_pair = op.find("WithArgmax") != std::string_view::npos;
      if (is_pair) {
        value = {value[1], value[2]};
      } else if (value[0] == value[1] && value[2] == value[3]) {
        value = {value[0], value[2]};
      }
    }
  }
  return attrs;
}

std::string to_string(const NamedNumbers& attrs) {
  std::string text;
  for (const auto& [key, value] : attrs) {
    text += fmt::format("{}{}=[{}]", text.empty() ? "" : " ", key, fmt::join(value, ","));
  }
  return text;
}

namespace {

using Candidates = std::vector<NamedNumbers>;

NamedNumbers window(double stride, double top, double left) {
  return {{"strides", {stride, stride}}, {"pads", {top, left}}};
}

// Channels of x over those of the weight; both tell where there are groups.
double groups_of(const Dims& x, const Dims& weight) {
  if (x.size() != 4 || weight.size() != 4 || weight[1] == 0 || x[1] % weight[1] != 0) return 1;
  return double(x[1] / weight[1]);
}

Candidates of_convolution(const Dims& x, const Dims& weight) {
  constexpr int kStrides = 4, kPads = 16, kUnevenPads = 5;
  Candidates all;
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

// The pools of well-known networks first.
Candidates of_pool() {
  constexpr int kUsual[][3] = {{3, 2, 1}, {3, 2, 0}, {2, 2, 0}, {3, 1, 1}, {2, 1, 0}, {7, 1, 0}};
  constexpr int kKernels = 8;
  Candidates all;
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

Candidates of_axis(const std::string& key, std::size_t rank, const NamedNumbers& others = {}) {
  Candidates all;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    all.push_back(others);
    all.back()[key] = {double(axis)};
  }
  return all;
}

// The first order of axes that fits and moves something.
Candidates of_transpose(const Dims& x, const Dims& y) {
  constexpr std::size_t kMostAxes = 7;
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

Candidates of_matmul() {
  Candidates all;
  for (const double b : {0., 1.}) {
    for (const double a : {0., 1.}) {
      all.push_back({{"transpose_x1", {a}}, {"transpose_x2", {b}}});
    }
  }
  return all;
}

Candidates of_mean(const Dims& x, const Dims& y) {
  const Dims kept = with_reduced_axes(x, y);
  if (kept.size() != x.size()) return {};
  NamedNumbers one{{"keep_dims", {x.size() == y.size() ? 1. : 0.}}, {"axes", {}}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (kept[i] == 1 && x[i] != 1) one["axes"].push_back(double(i));
  }
  return {one};
}

// As many as there are along the axis that differs; all of the last axis where none does.
Candidates of_topk(const Dims& x, const Dims& y) {
  if (x.size() != y.size() || x.empty()) return {};
  std::size_t axis = x.size() - 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) axis = i;
  }
  return {{{"k", {double(y[axis])}}, {"dim", {double(axis)}}}};
}

// Of a loss that is no scalar nothing was added up: reduction 0, none.
Candidates of_loss(const Dims& loss) {
  if (loss.empty()) return {};
  return {{{"reduction", {0}}}};
}

}  // namespace

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

std::vector<NamedNumbers> likely_attrs(std::string_view op, const std::vector<Dims>& inputs,
                                       const std::vector<Dims>& outputs) {
  if (inputs.empty() || outputs.empty()) return {};
  const std::size_t rank = inputs[0].size();
  const Dims& second = inputs[inputs.size() > 1 ? 1 : 0];
  if (op == "conv2d") return of_convolution(inputs[0], second);
  if (op == "conv2d_grad_input") return of_convolution(outputs[0], second);
  if (op == "conv2d_grad_weight") return of_convolution(second, outputs[0]);
  if (op == "max_pool2d" || op == "avg_pool2d" || op == "avg_pool2d_grad") return of_pool();
  if (op == "topk") return of_topk(inputs[0], outputs[0]);
  if (op.ends_with("_loss")) return of_loss(outputs[0]);
  if (op.ends_with("_loss_grad")) return of_loss(inputs[0]);
  if (op == "transpose") return of_transpose(inputs[0], outputs[0]);
  if (op == "matmul" || op == "linear") return of_matmul();
  if (op == "reduce_mean") return of_mean(inputs[0], outputs[0]);
  if (op == "concat" || op == "gather") return of_axis("axis", rank);
  if (op == "max") {
    Candidates all = of_axis("dimension", rank);
    for (NamedNumbers& one : of_axis("dimension", rank, {{"keep_dims", {1}}})) {
      all.push_back(std::move(one));
    }
    return all;
  }
  return {};
}

}  // namespace opbench
