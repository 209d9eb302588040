#include "kernels/attention.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/simd/attention_rows.h"

namespace opbench {
namespace {

constexpr std::int64_t kPart = 256;  // keys at a time

void add_shift(const AttentionCall& call, const AttentionHead& h, std::int64_t i, KeyRange keys,
               float* x) {
  double shift[kPart];
  for (std::int64_t first = keys.first; first < keys.end; first += kPart) {
    const KeyRange part{first, std::min(first + kPart, keys.end)};
    call.shift_row(h.sequence, h.head, i, part, shift);
    for (std::int64_t k = 0; k < part.count(); ++k) {
      x[first - keys.first + k] += static_cast<float>(shift[k]);
    }
  }
}

}  // namespace

void finish_scores(const Attention& a, const AttentionCall& call, const AttentionHead& h,
                   std::int64_t i, KeyRange keys, float* x) {
  const bool adds_first = a.shift_type == 1;
  if (a.has_shift && adds_first) add_shift(call, h, i, keys, x);
  scale_row(x, keys.count(), a.scale);
  if (a.has_shift && !adds_first) add_shift(call, h, i, keys, x);
  const std::uint8_t* const mask = call.mask_row(h.sequence, h.head, i);
  if (mask == nullptr) return;
  for (std::int64_t k = 0; k < keys.count(); ++k) {
    if (call.is_hidden(mask[keys.first + k])) x[k] = -HUGE_VALF;
  }
}

void drop_shares(const Attention& a, const AttentionCall& call, const AttentionHead& h,
                 std::int64_t i, KeyRange keys, float* x) {
  if (!a.has_drop) return;
  const float factor = 1 / a.keep;
  for (std::int64_t k = 0; k < keys.count(); ++k) {
    x[k] *= call.keeps(h.sequence, h.head, i, keys.first + k) ? factor : 0;
  }
}

void store_statistics(const Attention& a, const AttentionHead& h, std::int64_t i, float greatest,
                      float sum, const KernelArgs& args) {
  const std::int64_t place = a.statistics.at(h.sequence.batch, h.head, h.sequence.first_query + i);
  const auto to = [&](std::size_t output) {
    return static_cast<float*>(args.outputs[output]) + place;
  };
  if (a.gives_logsumexp) {
    *to(1) = sum == kHiddenSum ? HUGE_VALF : greatest + std::log(sum);
    return;
  }
  std::fill_n(to(1), kStatisticCopies, greatest);
  std::fill_n(to(2), kStatisticCopies, sum);
}

void round_stored(DType dtype, float* x, std::int64_t count) {
  if (dtype == DType::fp32) return;
  std::uint16_t stored[kPart];
  for (std::int64_t first = 0; first < count; first += kPart) {
    const std::int64_t part = std::min(kPart, count - first);
    store_floats(dtype, x + first, part, stored);
    load_floats(dtype, stored, part, x + first);
  }
}

void sum_products(const Attention& a, DType dtype, const AttentionHead& h, std::int64_t first,
                  std::int64_t count, const void* dy, const void* out, float* delta) {
  thread_local std::vector<float> rows;
  rows.resize(static_cast<std::size_t>(2 * a.value_size));
  float *const g = rows.data(), *const o = g + a.value_size;
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t place =
        a.out.at(h.sequence.batch, h.head, h.sequence.first_query + first + r);
    load_floats(dtype, at(dy, dtype, place), a.value_size, g);
    load_floats(dtype, at(out, dtype, place), a.value_size, o);
    delta[r] = sum_of_products(g, o, a.value_size);
  }
}

void add_sink_gradient(const Attention& a, const AttentionCall& call, const AttentionHead& h,
                       const float* delta, const KernelArgs& args) {
  const std::optional<float> sink = call.sink(h.head);
  if (!sink) return;
  double sum = 0;
  for (std::int64_t i = 0; i < h.sequence.queries; ++i) {
    const RowStatistics row = statistics(a, h, i, args);
    sum += double(std::exp(*sink - row.greatest) / row.sum * delta[i]);
  }
  static_cast<float*>(args.outputs[3])[h.head] -= static_cast<float>(sum);
}

void clear_outputs(const Problem& problem, const KernelArgs& args) {
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const bool is_statistic = problem.op->output_name(problem, i).starts_with("softmax");
    if (!is_statistic) {
      std::memset(args.outputs[i], 0, problem.outputs[i].bytes());
      continue;
    }
    std::fill_n(static_cast<float*>(args.outputs[i]), problem.outputs[i].elements(),
                i == 1 ? kHiddenMax : kHiddenSum);
  }
}

}  // namespace opbench
