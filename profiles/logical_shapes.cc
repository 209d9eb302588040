#include "profiles/logical_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensor/error.h"

namespace opbench {
namespace {

std::string key_of(const ProfiledTensor& tensor) {
  return fmt::format("{} {}", name(tensor.format), to_string(tensor.storage));
}

// Blocks of channels, where the format has them and the tensor is well formed.
std::int64_t padded_channels(const ProfiledTensor& tensor) {
  const Dims& s = tensor.storage;
  if (tensor.format == Format::NC1HWC0 && s.size() == 5) return s[1] * s[4];
  if (tensor.format == Format::NDC1HWC0 && s.size() == 6) return s[2] * s[5];
  return 0;
}

// Of a format with blocks; padding counts.
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

// Of a square kernel that is stored as [C1*K*K, ..., C0] for the channels of `x`; 0: none fits.
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
  by_storage_[key_of(stored)][*plain.logical] += weight;
}

void LogicalShapes::resolve(std::vector<ProfiledTensor>& tensors, bool shares_channels) const {
  for (ProfiledTensor& tensor : tensors) {
    if (tensor.logical || !tensor.problem.empty()) continue;
    const auto found = by_storage_.find(key_of(tensor));
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

}  // namespace opbench
