#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/op.h"
#include "ops/terms.h"
#include "tensor/dtype.h"

namespace opbench {

/// Rows of `count` elements that are normalised by themselves, in layer norm, group norm and RMS
/// norm: y = (x - mean)*rstd*weight + bias, and the statistics of each row. `place(row, i)` is the
/// index into `weight` and `bias` for element i of a row.
template <class Place>
struct NormalisedRows {
  std::int64_t count;
  std::vector<double> weight, bias;
  Place place;
  bool is_centred = true;  ///< false: the mean is 0 and not among the statistics

  Reference reference(std::vector<double> y, double eps) const {
    std::vector<double> means, rstds;
    for_each_row(y, [&](std::size_t r, std::span<double> row) {
      const auto [mean, squares] = moments(row);
      means.push_back(mean);
      rstds.push_back(1 / std::sqrt(squares / double(count) + eps));
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::size_t at = place(r, i);
        row[i] = (row[i] - means.back()) * rstds.back() * weight[at] + bias[at];
      }
    });
    return with_statistics(std::move(y), std::move(means), std::move(rstds));
  }

  /// The subtraction of the mean can cancel, and the sum of squares may leave the range of fp32.
  /// `is_one_pass`: the variance may be mean(x^2) - mean^2.
  Terms terms(std::vector<double> rounding, double eps, bool is_one_pass) const {
    std::vector<double> means, rstds, greatest;
    for_each_row(rounding, [&](std::size_t r, std::span<double> row) {
      double magnitudes = 0;
      for (const double x : row) magnitudes += std::fabs(x);
      const auto [mean, squares] = moments(row);
      const double rstd = 1 / std::sqrt(squares / double(count) + eps);
      means.push_back(magnitudes / double(count));
      greatest.push_back(std::fmax(magnitudes, squares));
      // If squares leave the range, the inverse deviation is 0 and the row is lost.
      const double kept = is_one_pass ? 1 + mean * mean * rstd * rstd : 1;
      const double of_all = squares > largest_finite(DType::fp32) ? 0x1p24 : kept;
      rstds.push_back(of_all * rstd);
      const double centre = is_centred ? std::fabs(mean) + means.back() : 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::size_t at = place(r, i);
        const double before = of_all * std::fabs(row[i] - mean) + centre;
        row[i] = before * rstd * std::fabs(weight[at]) + std::fabs(bias[at]);
      }
    });
    return {.magnitude = with_statistics(std::move(rounding), std::move(means), std::move(rstds)),
            .greatest = of_rows(std::move(greatest))};
  }

  /// With g = dy*weight and xn = (x - mean)*rstd: dx = (g - (sum(g) + xn*sum(g*xn))/n)*rstd by
  /// rows; dweight and dbias are the sums of dy*xn and dy. `inputs`: dy, x, mean (unless it is
  /// 0, when sum(g) does not count), rstd.
  template <Sum kSum>
  Reference gradient(std::span<const InputReader> inputs) const {
    std::vector<double> dx = inputs[0].read_all(), x = inputs[1].read_all();
    const std::vector<double> rstd = inputs[is_centred ? 3 : 2].read_all();
    const std::vector<double> mean =
        is_centred ? inputs[2].read_all() : std::vector(rstd.size(), 0.0);
    std::vector<double> grad_weight(weight.size()), grad_bias(weight.size());
    for_each_row(dx, [&](std::size_t r, std::span<double> dy) {
      double* const xn = x.data() + r * dy.size();
      double sum = 0, product = 0;
      for (std::size_t i = 0; i < dy.size(); ++i) {
        const std::size_t at = place(r, i);
        xn[i] = subtracted(kSum, xn[i], mean[r]) * rstd[r];
        grad_weight[at] += summand(kSum, dy[i] * xn[i]);
        grad_bias[at] += summand(kSum, dy[i]);
        dy[i] *= weight[at];
        if (is_centred) sum += summand(kSum, dy[i]);
        product += summand(kSum, dy[i] * xn[i]);
      }
      for (std::size_t i = 0; i < dy.size(); ++i) {
        dy[i] = subtracted(kSum, dy[i], (sum + xn[i] * product) / double(count)) * rstd[r];
      }
    });
    return elements_of({std::move(dx), std::move(grad_weight), std::move(grad_bias)});
  }

 private:
  Reference with_statistics(std::vector<double> y, std::vector<double> means,
                            std::vector<double> rstds) const {
    if (!is_centred) return elements_of({std::move(y), std::move(rstds)});
    return elements_of({std::move(y), std::move(means), std::move(rstds)});
  }

  template <class OfRow>
  void for_each_row(std::vector<double>& values, const OfRow& of_row) const {
    const auto row = static_cast<std::size_t>(count);
    for (std::size_t r = 0; r * row < values.size(); ++r) {
      of_row(r, std::span<double>(values.data() + r * row, row));
    }
  }

  // The mean, and the sum of the squared distances from it.
  std::pair<double, double> moments(std::span<const double> row) const {
    double sum = 0, squares = 0;
    for (const double x : row) sum += is_centred ? x : 0;
    const double mean = sum / double(count);
    for (const double x : row) squares += (x - mean) * (x - mean);
    return {mean, squares};
  }

  // One number for each row: for its elements (output 0) and for its statistics.
  Reference of_rows(std::vector<double> numbers) const {
    return [numbers = std::move(numbers), count = count](std::size_t output, ElementRange range,
                                                         std::span<double> to) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        const std::int64_t element = range.first + static_cast<std::int64_t>(i);
        to[i] = numbers[static_cast<std::size_t>(output == 0 ? element / count : element)];
      }
    };
  }
};

// A deduction guide, which Clang 14 needs.
template <class Place>
NormalisedRows(std::int64_t, std::vector<double>, std::vector<double>, Place)
    -> NormalisedRows<Place>;

/// The gradient's call: the gradient of the result, the input, the statistics and the weight, if
/// given.
inline std::vector<GradientCall> gradient_of_normalised(std::string_view name,
                                                        const Problem& forward) {
  GradientCall call{name,
                    {{GradientArg::output_gradient, 0},
                     {GradientArg::input, 0},
                     {GradientArg::output, 1},
                     {GradientArg::output, 2}}};
  for (std::size_t i = 1; i < forward.inputs.size(); ++i) call.of_inputs.push_back(i);
  if (forward.inputs.size() > 1) call.args.push_back({GradientArg::input, 1});
  return {call};
}

/// The means or inverse deviations, which are not differentiable.
inline TensorSpec statistic_of_rows(std::string_view name,
                                    Distribution (*data)(const Problem& problem)) {
  TensorSpec spec{name, name, {DType::fp32, DType::fp16, DType::bf16}, data};
  spec.differentiable = false;
  return spec;
}

}  // namespace opbench
