#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiles/profiled_case.h"
#include "profiles/profiled_tensor.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::string storage_key(const ProfiledTensor& tensor) {
  return fmt::format("{} {}", name(tensor.format), to_string(tensor.storage));
}

// The number of channels with padding; 0 if the format has no blocks or the tensor is malformed.
std::int64_t padded_channels(const ProfiledTensor& tensor) {
  const Dims& s = tensor.storage;
  if (tensor.format == Format::NC1HWC0 && s.size() == 5) return s[1] * s[4];
  if (tensor.format == Format::NDC1HWC0 && s.size() == 6) return s[2] * s[5];
  return 0;
}

// The logical shape with padding, for a format with blocks; otherwise empty.
std::optional<Dims> padded_shape(const ProfiledTensor& tensor) {
  const Dims& s = tensor.storage;
  if (tensor.format == Format::NC1HWC0 && s.size() == 5) {
    return Dims{s[0], s[1] * s[4], s[2], s[3]};
  }
  if (tensor.format == Format::NDC1HWC0 && s.size() == 6) {
    return Dims{s[0], s[2] * s[5], s[1], s[3], s[4]};
  }
  if (tensor.format == Format::FRACTAL_NZ && s.size() >= 4) {
    const std::size_t n = s.size();
    Dims logical(s.begin(), s.end() - 4);
    logical.push_back(s[n - 3] * s[n - 2]);
    logical.push_back(s[n - 4] * s[n - 1]);
    return logical;
  }
  return std::nullopt;
}

void share_channels(std::vector<ProfiledTensor>& tensors, ProfiledTensor& tensor) {
  for (const ProfiledTensor& other : tensors) {
    if (!other.logical || other.is_upper_bound || !other.problem.empty() ||
        padded_channels(other) == 0 || padded_channels(other) != padded_channels(tensor)) {
      continue;
    }
    (*tensor.logical)[1] = (*other.logical)[1];
    tensor.is_upper_bound = false;
    return;
  }
}

// K of a square kernel that is stored as [C1*K*K, ..., C0], for the channels of `x`; 0 if no K
// fits.
std::int64_t kernel_extent(const ProfiledTensor& weight, const ProfiledTensor& x) {
  const Dims& s = weight.storage;
  const std::int64_t c0 = c0_of(weight);
  if (weight.logical || weight.format != Format::FRACTAL_Z || s.size() != 4 || c0 == 0) return 0;
  if (!x.logical || x.logical->size() != 4) return 0;
  const std::int64_t c1 = ((*x.logical)[1] + c0 - 1) / c0;
  if (c1 == 0 || s[0] % c1 != 0) return 0;
  const auto k = static_cast<std::int64_t>(std::llround(std::sqrt(double(s[0] / c1))));
  return k * k == s[0] / c1 ? k : 0;
}

}  // namespace

bool is_stored_as(const Dims& logical, const ProfiledTensor& tensor) {
  try {
    return storage_dims(tensor.format, logical, c0_of(tensor)) == tensor.storage;
  } catch (const Error&) {
    return false;
  }
}

void LogicalShapes::learn(const ProfiledTensor& from, const ProfiledTensor& to, double weight) {
  const bool from_plain = !is_private(from.format);
  const ProfiledTensor& plain = from_plain ? from : to;
  const ProfiledTensor& stored = from_plain ? to : from;
  if (is_private(plain.format) || !is_private(stored.format) || !plain.logical) return;
  if (!plain.problem.empty() || !stored.problem.empty() || !is_stored_as(*plain.logical, stored))
    return;
  by_storage_[storage_key(stored)][*plain.logical] += weight;
}

void LogicalShapes::resolve(std::vector<ProfiledTensor>& tensors, bool shares_channels) const {
  for (ProfiledTensor& tensor : tensors) {
    if (tensor.logical || !tensor.problem.empty()) continue;
    const auto found = by_storage_.find(storage_key(tensor));
    if (found != by_storage_.end()) {
      const auto likeliest =
          std::max_element(found->second.begin(), found->second.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      tensor.logical = likeliest->first;
    } else if (const std::optional<Dims> padded = padded_shape(tensor)) {
      tensor.logical = padded;
      tensor.is_upper_bound = true;
    }
  }
  if (!shares_channels) return;
  for (ProfiledTensor& tensor : tensors) {
    if (tensor.is_upper_bound && padded_channels(tensor) > 0) share_channels(tensors, tensor);
  }
}

void resolve_weight(ProfiledTensor& weight, const ProfiledTensor& x, std::int64_t m) {
  const std::int64_t k = kernel_extent(weight, x);
  if (k == 0) return;
  const Dims logical = {m, (*x.logical)[1], k, k};
  if (!is_stored_as(logical, weight)) return;
  weight.logical = logical;
  weight.is_upper_bound = x.is_upper_bound;
}

void resolve_depthwise_weight(ProfiledTensor& weight, const ProfiledTensor& x) {
  const std::int64_t k = kernel_extent(weight, x);
  const std::int64_t c0 = c0_of(weight);
  if (k == 0 || weight.storage[1] != 1 || weight.storage[2] != c0) return;
  weight.logical = Dims{(*x.logical)[1], 1, k, k};
  weight.is_upper_bound = x.is_upper_bound;
}

namespace {

constexpr std::string_view kDepthwise = "Depthwise";

bool is_depthwise(std::string_view type) { return type.starts_with("DepthwiseConv2D"); }
bool is_convolution(std::string_view type) {
  return type.starts_with("Conv2D") || is_depthwise(type);
}

void set_channels(ProfiledTensor& tensor, std::int64_t channels) {
  if (!tensor.is_upper_bound || !tensor.logical || tensor.logical->size() != 4) return;
  const std::int64_t padded = (*tensor.logical)[1];
  if (channels > padded || channels <= padded - c0_of(tensor)) return;
  (*tensor.logical)[1] = channels;
  tensor.is_upper_bound = false;
}

// Sets the channels of x and y from a weight with a known shape, or the weight from y.
void reconcile(ProfiledTensor& x, ProfiledTensor& weight, ProfiledTensor& y,
               const ProfiledTensor* bias) {
  if (bias != nullptr && bias->logical && bias->logical->size() == 1) {
    set_channels(y, (*bias->logical)[0]);
  }
  if (weight.logical && weight.logical->size() == 4) {
    set_channels(y, (*weight.logical)[0]);
    set_channels(x, (*weight.logical)[1]);
  } else if (y.logical && y.logical->size() == 4) {
    resolve_weight(weight, x, (*y.logical)[1]);
  }
}

// Sets a depthwise weight to [C, 1, K, K], also if TensorFlow's order [K, K, C, 1] gives [1, C].
void reconcile_depthwise(ProfiledTensor& x, ProfiledTensor& weight, ProfiledTensor& y) {
  resolve_depthwise_weight(weight, x);
  if (!weight.logical || weight.logical->size() != 4) return;
  Dims& w = *weight.logical;
  if (w[0] == 1) std::swap(w[0], w[1]);
  set_channels(x, w[0]);
  set_channels(y, w[0]);
}

void reconcile_convolution(ProfiledOperator& one) {
  auto& in = one.inputs;
  auto& out = one.outputs;
  std::string_view type = one.type;
  const bool has_filter_each = is_depthwise(type);
  if (has_filter_each) type.remove_prefix(kDepthwise.size());
  const bool has_size = type == "Conv2DBackpropInput" || type == "Conv2DBackpropFilter";
  if (out.empty() || in.size() < (has_size ? 3U : 2U)) return;
  const bool is_input = type.starts_with("Conv2DBackpropInput");
  const bool is_filter = type.starts_with("Conv2DBackpropFilter");
  ProfiledTensor& x = is_input ? out[0] : in[0];
  ProfiledTensor& weight = is_filter ? out[0] : in[is_input && !has_size ? 0 : 1];
  ProfiledTensor& y = is_input || is_filter ? in[has_size ? 2 : 1] : out[0];
  if (has_filter_each) return reconcile_depthwise(x, weight, y);
  const bool has_bias = !is_input && !is_filter && in.size() > 2;
  reconcile(x, weight, y, has_bias ? &in[2] : nullptr);
}

// Sets one group for each channel. The operator's name implies that; no attribute has it.
void set_groups(ProfiledOperator& one) {
  if (!is_depthwise(one.type) || !one.attrs || one.outputs.empty() || one.inputs.empty()) return;
  const bool is_input = one.type.find("BackpropInput") != std::string::npos;
  const std::optional<Dims>& x = (is_input ? one.outputs : one.inputs)[0].logical;
  if (x && x->size() == 4) (*one.attrs)["groups"] = {double((*x)[1])};
}

// Batch norm stores vectors of channels as [1, C, 1, 1]; they become [C].
void flatten_channels(ProfiledOperator& one) {
  if (!one.type.starts_with("BN") || one.inputs.empty() || !one.inputs[0].logical) return;
  const Dims& x = *one.inputs[0].logical;
  if (x.size() < 2) return;
  const auto flatten = [&](ProfiledTensor& tensor) {
    if (!tensor.problem.empty() || !tensor.logical || tensor.logical->size() < 4) return;
    const Dims& found = *tensor.logical;
    const bool is_vector = element_count(found) == found[1];
    const bool fits = found[1] == x[1] || (tensor.is_upper_bound && found[1] > x[1]);
    if (!is_vector || !fits) return;
    tensor.logical = Dims{x[1]};
    tensor.is_upper_bound = false;
  };
  const bool has_gradient = one.type.ends_with("Grad");
  for (std::size_t i = has_gradient ? 2 : 1; i < one.inputs.size(); ++i) flatten(one.inputs[i]);
}

// The device stores the maximum of a window as bits of a mask; the operator of opbench takes an
// index.
void replace_mask(ProfiledOperator& one) {
  if (one.type != "MaxPoolGradWithArgmaxV1" || one.inputs.size() != 3) return;
  one.inputs[2] = one.inputs[1];
  one.inputs[2].dtype = DType::int64;
}

}  // namespace

void resolve(ProfiledOperator& one, const LogicalShapes& shapes) {
  std::vector<ProfiledTensor> all = one.inputs;
  all.insert(all.end(), one.outputs.begin(), one.outputs.end());
  shapes.resolve(all, !is_convolution(one.type));
  const auto half = all.begin() + std::ssize(one.inputs);
  one.inputs.assign(all.begin(), half);
  one.outputs.assign(half, all.end());
  if (is_convolution(one.type)) reconcile_convolution(one);
  set_groups(one);
  flatten_channels(one);
  replace_mask(one);
}

}  // namespace opbench
