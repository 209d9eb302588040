#include "profiles/transfer_price.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "profiles/findings.h"
#include "profiles/profiled_tensor.h"
#include "tensor/shape.h"

namespace opbench {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
// With fewer, a half has no line of its own.
constexpr std::int64_t kFewestKernels = 8;
constexpr std::size_t kFewestSizes = 4;
constexpr std::size_t kMostPoints = 1000;  // all pairs are compared

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The bytes of both sides as stored; none if a tensor is not known.
std::optional<double> bytes_of(const HotOperator& one) {
  double bytes = 0;
  const auto add = [&](const std::string& shapes, const std::string& dtypes,
                       const std::string& formats) {
    for (const ProfiledTensor& tensor : tensors_of(shapes, dtypes, formats)) {
      if (tensor.is_absent) continue;
      if (!tensor.problem.empty()) return false;
      bytes += static_cast<double>(element_count(tensor.storage)) *
               static_cast<double>(size_of(tensor.dtype));
    }
    return true;
  };
  const bool is_known = one.has_tensors &&
                        add(one.input_shapes, one.input_dtypes, one.input_formats) &&
                        add(one.output_shapes, one.output_dtypes, one.output_formats);
  return is_known && bytes > 0 ? std::optional(bytes) : std::nullopt;
}

double median_us(const HotOperator& one) {
  std::vector<double> all;
  for (const TaskSample& sample : one.samples) all.push_back(in_us(sample.duration_ps));
  return all.empty() ? one.time.mean_us() : median(std::move(all));
}

std::size_t sizes_of(std::span<const MeasuredTransfer> points) {
  std::size_t sizes = points.empty() ? 0 : 1;
  for (std::size_t i = 1; i < points.size(); ++i) sizes += points[i].bytes != points[i - 1].bytes;
  return sizes;
}

std::vector<MeasuredTransfer> half_of(std::span<const MeasuredTransfer> points, std::size_t first) {
  std::vector<MeasuredTransfer> half;
  for (std::size_t i = first; i < points.size(); i += 2) half.push_back(points[i]);
  return half;
}

TransferPrice price_of(const IngestResult& result, std::string kind,
                       const std::vector<std::string_view>& groups) {
  TransferPrice price;
  price.kind = std::move(kind);
  for (const HotOperator& one : result.hot_spots.operators()) {
    if (one.core == "AI_CPU" || !result.hot_spots.rules().is_in(groups, one)) continue;
    const std::optional<double> bytes = bytes_of(one);
    const double us = median_us(one);
    if (!bytes || us <= 0) continue;
    price.kernels += one.time.count;
    if (price.points.size() < kMostPoints) price.points.push_back({*bytes, us});
  }
  std::sort(price.points.begin(), price.points.end(), [](const auto& a, const auto& b) {
    return std::pair(a.bytes, a.us) < std::pair(b.bytes, b.us);
  });
  if (price.kernels < kFewestKernels || sizes_of(price.points) < kFewestSizes) return price;
  price.time = fit_time(price.points);
  price.error = half_error(price.points);
  return price;
}

}  // namespace

LinearTime fit_time(std::span<const MeasuredTransfer> points) {
  std::vector<double> slopes, rests, rates;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double bytes = points[i].bytes - points[k].bytes;
      if (bytes != 0) slopes.push_back((points[i].us - points[k].us) / bytes);
    }
  }
  LinearTime time;
  time.us_per_byte = std::max(0.0, median(std::move(slopes)));
  for (const MeasuredTransfer& point : points) {
    rests.push_back(point.us - time.us_per_byte * point.bytes);
    rates.push_back(point.us / point.bytes);
  }
  time.call_us = median(std::move(rests));
  if (time.call_us < 0) time = {0, median(std::move(rates))};
  return time;
}

double half_error(std::span<const MeasuredTransfer> points) {
  std::vector<double> errors;
  for (const std::size_t first : {0U, 1U}) {
    const LinearTime time = fit_time(half_of(points, first));
    for (const MeasuredTransfer& other : half_of(points, 1 - first)) {
      errors.push_back(std::abs(time.us({1, other.bytes}) - other.us) / other.us);
    }
  }
  return median(std::move(errors));
}

TransferPrices transfer_prices(const IngestResult& result) {
  TransferPrices prices{price_of(result, "TransData", {"TransData"}),
                        price_of(result, "Cast", {"Cast"}),
                        price_of(result, "copies", {"copies", "Transpose"}),
                        {},
                        {}};
  if (const std::optional<StepTime> step = step_time(result)) {
    prices.step_us = in_us(step->mean_ps);
    prices.whole_name = step->whole_name();
  }
  return prices;
}

void estimate_savings(const TransferPrices& prices, Remedy& remedy) {
  const ConversionWork* before = &remedy.work_before;
  for (RemedyStep& step : remedy.steps) {
    EstimatedSaving saving;
    bool is_priced = false;
    const auto add = [&](const TransferPrice& price, const KernelWork& old, const KernelWork& now) {
      const KernelWork less{old.calls - now.calls, old.bytes - now.bytes};
      if (less.calls == 0 && less.bytes == 0) return;
      if (!price.time) {
        saving.without += (saving.without.empty() ? "" : ", ") + price.kind;
        return;
      }
      saving.us += price.time->us(less);
      is_priced = true;
    };
    add(prices.trans_data, before->trans_data, step.work.trans_data);
    add(prices.casts, before->casts, step.work.casts);
    add(prices.copies, before->copies, step.work.copies);
    if (prices.step_us && *prices.step_us > 0) saving.step_share = saving.us / *prices.step_us;
    if (is_priced) step.estimate = saving;
    before = &step.work;
  }
}

std::vector<std::string> price_lines(const TransferPrices& prices) {
  std::vector<std::string> lines;
  for (const TransferPrice* price : {&prices.trans_data, &prices.casts, &prices.copies}) {
    const std::size_t sizes = sizes_of(price->points);
    std::string text =
        fmt::format("{}: {} kernels of {} sizes", price->kind, price->kernels, sizes);
    if (!price->time) {
      text += fmt::format(", no price: at least {} kernels of {} sizes with shapes are needed",
                          kFewestKernels, kFewestSizes);
    } else {
      text += fmt::format(
          " ({:.3g} to {:.3g} MiB), {:.2f} us + {:.3f} us/MiB; each half predicts the other with a "
          "median error of {:.0f} %",
          price->points.front().bytes / kMiB, price->points.back().bytes / kMiB,
          price->time->call_us, price->time->us_per_byte * kMiB, 100 * price->error);
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace opbench
