#include "harness/run/workspace.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/checksum.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr int kPoison = 0xFF;  // NaN in every floating dtype

// Inputs of one case must not be alike: relu_grad on equal inputs would prove nothing.
std::uint64_t seed_of_input(std::uint64_t seed, std::size_t input) {
  return seed + 0x9E3779B97F4A7C15 * input;
}

// At most a quarter of the elements are corner values, or small tensors would hold nothing else.
std::size_t corner_count(std::int64_t elements, std::size_t corners) {
  return std::min(corners, static_cast<std::size_t>(elements / 4));
}

// 0 for dtypes that have no subnormals.
double smallest_normal(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return std::numeric_limits<double>::min();
    case DType::fp16:
      return 0x1p-14;
    case DType::fp32:
    case DType::bf16:
      return std::numeric_limits<float>::min();
    default:
      return 0;
  }
}

}  // namespace

Workspace::Workspace(const Graph& graph) : graph_(&graph) {
  for (const GraphTensor& tensor : graph.tensors) tensors_.emplace_back(tensor.desc);
}

void Workspace::fill_inputs(std::span<const Distribution> data, std::uint64_t seed) {
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < data.size(); ++i) {
    fill(tensors_[i], data[i], seed_of_input(seed, i));
    inputs.emplace_back(tensors_[i].desc, tensors_[i].data());
  }
  const Problem& problem = graph_->nodes[0].problem;
  if (problem.op->check_values != nullptr) problem.op->check_values(problem, inputs);
  write_gradient_seeds(false);
}

void Workspace::write_gradient_seeds(bool scaled) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (graph_->tensors[i].role != GraphTensor::gradient_seed) continue;
    const auto elements = static_cast<double>(graph_->tensors.front().desc.elements());
    constexpr double kLargestHalf = 65504;
    const double value = scaled ? std::clamp(elements, 1.0, kLargestHalf) : 1.0;
    from_doubles(tensors_[i].desc.dtype, &value, 1, tensors_[i].data());
  }
}

bool Workspace::has_corners(std::size_t tensor) const {
  const TensorSpec& spec = graph_->nodes[0].problem.op->input(tensor);
  return !spec.has_own_dtype() && spec.data == nullptr;
}

void Workspace::write_corners(std::size_t tensor, const Distribution& data, std::uint64_t seed,
                              const std::function<bool(double corner)>& is_wanted) {
  const TensorDesc& desc = tensors_[tensor].desc;
  const std::vector<double> corners = corner_values(graph_->nodes[0].problem);
  const std::size_t count = corner_count(desc.elements(), corners.size());
  const std::int64_t stride = count == 0 ? 0 : desc.elements() / static_cast<std::int64_t>(count);
  for (std::size_t k = 0; k < count; ++k) {
    // Which corners a small tensor gets, and beside which neighbours they stand, changes with the
    // seed; each input has its own places.
    const double corner = corners[(k + seed) % corners.size()];
    const std::int64_t place =
        static_cast<std::int64_t>(k) * stride +
        static_cast<std::int64_t>((seed + tensor) % static_cast<std::size_t>(stride));
    std::byte value[sizeof(double)];
    if (is_wanted(corner)) {
      from_doubles(desc.dtype, &corner, 1, value);
    } else {
      generate(data, seed_of_input(seed, tensor), desc.dtype, desc.elements(), {place, 1}, value);
    }
    write_elements(desc, tensors_[tensor].data(), {place, 1}, value);
  }
}

void Workspace::add_corner_values(std::span<const Distribution> data, std::uint64_t seed,
                                  InputRange range, double largest) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const double least = smallest_normal(tensors_[i].desc.dtype);
    const auto is_wanted = [&](double corner) {
      const bool is_subnormal = corner != 0 && std::fabs(corner) < least;
      if (std::isfinite(corner) && std::fabs(corner) > largest) return false;
      return range == InputRange::any ||
             (std::isfinite(corner) && !(range == InputRange::normal && is_subnormal));
    };
    if (has_corners(i)) write_corners(i, data[i], seed, is_wanted);
  }
  write_gradient_seeds(true);
}

void Workspace::remove_corner_values(std::span<const Distribution> data, std::uint64_t seed) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (has_corners(i)) write_corners(i, data[i], seed, [](double) { return false; });
  }
  write_gradient_seeds(false);
}

void Workspace::poison_results() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (graph_->tensors[i].is_computed()) {
      fill_bytes(tensors_[i].data(), kPoison, tensors_[i].buffer.size());
    }
  }
}

std::uint64_t Workspace::input_checksum() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!graph_->tensors[i].is_computed()) {
      sum = sum * 31 + checksum(tensors_[i].data(), tensors_[i].buffer.size());
    }
  }
  return sum;
}

std::string Workspace::damaged_guard() const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!tensors_[i].buffer.guards_intact()) return graph_->tensors[i].name;
  }
  return {};
}

void Workspace::restore_guards() {
  for (const Tensor& tensor : tensors_) tensor.buffer.restore_guards();
}

}  // namespace opbench
