#include "kernels/attention.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/simd/attention_rows.h"
#include "kernels/simd/scratch.h"

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

// Fills large outputs on all threads.
void fill_parallel(float* to, std::int64_t count, float value) {
  constexpr std::int64_t kGrain = 64 * 1024;
  parallel_ranges(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::fill(to + begin, to + end, value);
  });
}

}  // namespace

void KeyStore::load(const TileFactors& factors, const Part& part, const AttentionSequence& s,
                    std::int64_t key_head, KeyRange keys, std::int64_t pitch, float* to) const {
  thread_local AlignedFloats row;
  const DType dtype = problem_->inputs[part.input].dtype;
  call_->for_each_run(s, keys, [&](const KeyRun& run) {
    for (std::int64_t k = 0; k < run.count; ++k, to += pitch) {
      const std::int64_t place = part.places.at(run.batch, key_head, run.row + k);
      if (dtype != DType::int8) {
        factors.load(dtype, at(args_->inputs[part.input], dtype, place), part.size, to, part.first);
      } else if (factors.in_pairs) {
        row.resize(part.size);
        load_scaled(part, s, key_head, run.key + k, place, row.data());
        factors.left(row.data(), 1, part.size, part.size, to);
      } else {
        load_scaled(part, s, key_head, run.key + k, place, to);
      }
    }
  });
}

// A product with a scale is rounded to the dtype of the queries.
void KeyStore::load_scaled(const Part& part, const AttentionSequence& s, std::int64_t key_head,
                           std::int64_t key, std::int64_t place, float* to) const {
  const auto* const from = static_cast<const std::int8_t*>(args_->inputs[part.input]) + place;
  const DType dtype = problem_->inputs[part.scales].dtype;
  const std::int64_t first = of_->scale_at(s, key_head, part.size, key, 0);
  const bool by_key = of_->scale_batch > 0;
  load_floats(dtype, at(args_->inputs[part.scales], dtype, first), by_key ? 1 : part.size, to);
  if (by_key) std::fill_n(to + 1, part.size - 1, to[0]);
  for (std::int64_t i = 0; i < part.size; ++i) to[i] *= static_cast<float>(from[i]);
  round_stored(problem_->inputs[0].dtype, to, part.size);
}

void KeyStore::load_keys(const TileFactors& factors, const AttentionSequence& s,
                         std::int64_t key_head, KeyRange keys, std::int64_t pitch,
                         float* to) const {
  const AttentionInputs& places = of_->places;
  load(factors, {1, places.key_scale, of_->key, of_->size}, s, key_head, keys, pitch, to);
  if (of_->rope_size > 0) {
    load(factors, {places.key_rope, 0, of_->key_rope, of_->rope_size, of_->size}, s, key_head, keys,
         pitch, to);
  }
  for (std::int64_t k = 0; k < keys.count(); ++k) {
    std::fill(to + k * pitch + factors.words(of_->width()), to + (k + 1) * pitch, 0.0f);
  }
}

void KeyStore::load_values(const TileFactors& factors, const AttentionSequence& s,
                           std::int64_t key_head, KeyRange keys, std::int64_t pitch,
                           float* to) const {
  load(factors, {2, of_->places.value_scale, of_->value, of_->value_size}, s, key_head, keys, pitch,
       to);
  for (std::int64_t k = 0; k < keys.count(); ++k) {
    std::fill(to + k * pitch + factors.words(of_->value_size), to + (k + 1) * pitch, 0.0f);
  }
}

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
  if (!a.gives_statistics) return;
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

void clear_outputs(const Problem& problem, const Attention& a, const KernelArgs& args) {
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const TensorDesc& desc = problem.outputs[i];
    if (!problem.op->output_name(problem, i).starts_with("softmax")) {
      constexpr std::int64_t kGrainBytes = 256 * 1024;
      parallel_ranges(std::int64_t(desc.bytes()), kGrainBytes,
                      [&](std::int64_t begin, std::int64_t end) {
                        std::memset(static_cast<std::byte*>(args.outputs[i]) + begin, 0,
                                    std::size_t(end - begin));
                      });
      continue;
    }
    const float hidden = a.gives_logsumexp ? HUGE_VALF : i == 1 ? kHiddenMax : kHiddenSum;
    fill_parallel(static_cast<float*>(args.outputs[i]), desc.elements(), hidden);
  }
}

}  // namespace opbench
