#pragma once

#include <cstdint>
#include <vector>

namespace opbench {

/// A tap of the kernel along one axis: place q of what is computed takes element q*in_step + offset
/// of the input, which exists for places [begin, end).
struct AxisTap {
  std::int64_t tap, offset, begin, end;
};

/// Places that take the same taps: elements first, first + out_step, ... of what is computed.
struct AxisPhase {
  std::int64_t first, count;
  std::vector<AxisTap> taps;
};

/// One axis of a convolution or of its gradient by the input, as sums over the taps that a place
/// meets. Taps that no place meets are left out, and so are products with zeros between strides.
struct ConvAxis {
  std::int64_t kernel, inputs;     ///< taps of the kernel, elements of the input
  std::int64_t in_step, out_step;  ///< from a place to the next
  std::vector<AxisPhase> phases;

  /// y from x: one phase, which strides over the input.
  static ConvAxis forward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                          std::int64_t stride, std::int64_t padding, std::int64_t dilation);
  /// dx (`outputs`) from dy (`inputs`): a phase for each element of a stride.
  static ConvAxis backward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                           std::int64_t stride, std::int64_t padding, std::int64_t dilation);

  std::int64_t places() const { return phases.front().count; }  ///< of the longest phase
  /// The lowest and the highest offset of all phases, 0 if there is no tap.
  std::int64_t lowest() const;
  std::int64_t highest() const;
};

}  // namespace opbench
