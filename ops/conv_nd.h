#pragma once

#include <algorithm>
#include <string_view>

#include "ops/conv2d.h"
#include "tensor/parallel.h"

namespace opbench {

/// The tensors of a convolution or its gradients, or their gradients.
enum class ConvRole { x, y, weight, bias };

enum ConvKind { kConvForward, kConvGradInput, kConvGradWeight };

/// The operators of sequences, planes and volumes.
inline constexpr std::string_view kConvNames[][3] = {
    {"conv1d", "conv1d_grad_input", "conv1d_grad_weight"},
    {"conv2d", "conv2d_grad_input", "conv2d_grad_weight"},
    {"conv3d", "conv3d_grad_input", "conv3d_grad_weight"}};

/// The shapes of x and weight of a use of an operator of sequences or volumes with inputs of shape
/// `first` and `second`.
struct ConvOperands {
  Dims x, weight;

  ConvOperands(const Op& op, const Dims& first, const Dims& second, const Attrs& attrs);
};

/// A convolution of sequences [N, C, L] or volumes [N, C, D, H, W] as one of planes. A sequence is
/// a plane of one row. The depths of a window of volumes become channels: x is unfolded to [N*OD,
/// C*KD, H, W], and the weight [M, C/groups*KD, KH, KW] is stored as before.
struct ConvNd {
  std::int64_t n, c, m;
  std::int64_t d = 1, od = 1, kd = 1, stride = 1, padding = 0, dilation = 1;  ///< the depth
  Dims x, weight, y;  ///< the shapes of the planes
  Attrs attrs;        ///< of conv2d for the planes

  /// The geometry of a use of the operators of conv_nd.cc. Errors: like `convolved`.
  ConvNd(const Op& op, const Dims& first, const Dims& second, const Attrs& of);
  explicit ConvNd(const Problem& problem)
      : ConvNd(*problem.op, problem.inputs[0].shape, problem.inputs[1].shape, problem.attrs) {}

  /// The number of products in one element of y.
  std::int64_t terms() const { return weight[1] * weight[2] * weight[3]; }
  /// The shape that a tensor has for the planes; `bias`: that of a bias.
  const Dims& shape_of(ConvRole role, const Dims& bias) const;
  /// True if tensors are stored like those of the planes.
  bool is_flat() const { return d == 1 && od == 1 && kd == 1 && padding == 0; }

  /// Copies x to the channels of the planes; zeros for depths in the padding.
  template <class T>
  void unfold(const T* from, T* to) const {
    const std::int64_t plane = x[2] * x[3];
    parallel_blocks(n * od * c, [&](std::int64_t i) {
      const std::int64_t image = i / c / od, window = i / c % od;
      for (std::int64_t k = 0; k < kd; ++k) {
        const std::int64_t depth = window * stride - padding + k * dilation;
        T* const place = to + (i * kd + k) * plane;
        if (depth < 0 || depth >= d) {
          std::fill_n(place, plane, T{});
        } else {
          std::copy_n(from + ((image * c + i % c) * d + depth) * plane, plane, place);
        }
      }
    });
  }

  /// The sums of the channels that `unfold` copies from each element.
  template <class T>
  void fold(const T* from, T* to) const {
    const std::int64_t plane = x[2] * x[3];
    parallel_blocks(n * c, [&](std::int64_t i) {
      T* const volume = to + i * d * plane;
      std::fill_n(volume, d * plane, T{});
      for (std::int64_t j = 0; j < od * kd; ++j) {
        const std::int64_t window = j / kd, depth = window * stride - padding + j % kd * dilation;
        if (depth < 0 || depth >= d) continue;
        const T* place = from + (((i / c * od + window) * c + i % c) * kd + j % kd) * plane;
        for (std::int64_t k = 0; k < plane; ++k) volume[depth * plane + k] += place[k];
      }
    });
  }

  /// y [N, M, OD, ...] as planes [N*OD, M, ...], and back.
  template <class T>
  void to_planes(const T* from, T* to) const {
    exchange(m, od, from, to);
  }
  template <class T>
  void from_planes(const T* from, T* to) const {
    exchange(od, m, from, to);
  }

 private:
  template <class T>
  void exchange(std::int64_t rows, std::int64_t columns, const T* from, T* to) const {
    const std::int64_t plane = y[2] * y[3], each = rows * columns;
    parallel_blocks(n * each, [&](std::int64_t i) {
      const std::int64_t row = i % each / columns, column = i % columns;
      std::copy_n(from + i * plane, plane, to + (i / each * each + column * rows + row) * plane);
    });
  }
};

ConvKind conv_kind(const Op& op);

/// The operator of planes that computes an operator of conv_nd.cc: "conv2d_grad_input".
const Op& op_of_planes(const Op& op);

/// The roles of the tensors of such an operator.
ConvRole role_of_input(const Op& op, std::size_t i);
ConvRole role_of_output(const Op& op);

}  // namespace opbench
