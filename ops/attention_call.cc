// The optional inputs of an attention, read row by row.
#include <algorithm>
#include <cmath>

#include "ops/attention.h"
#include "tensor/elements.h"

namespace opbench {

std::int64_t AttentionCall::whole(std::size_t input, DType dtype, std::int64_t i) const {
  if (dtype == DType::int32) return static_cast<const std::int32_t*>(inputs_[input])[i];
  return static_cast<const std::int64_t*>(inputs_[input])[i];
}

AttentionCall::AttentionCall(const Attention& of, std::span<const void* const> inputs)
    : of_(&of), inputs_(inputs) {
  std::int64_t query = 0, key = 0, bit = 0;
  for (std::int64_t n = 0; n < of.sequences(); ++n) {
    AttentionSequence& s = sequences_.emplace_back();
    s.number = n, s.visibility = of.visibility();
    s.queries = of.queries, s.keys = of.keys;
    if (of.has_query_ends) s.queries = whole(of.places.query_ends, of.query_ends, n);
    if (of.has_key_ends) s.keys = whole(of.places.key_ends, of.key_ends, n);
    if (of.has_prefix) s.prefix = whole(of.places.prefix, of.prefixes, n);
    s.first_bit = bit;
    if (of.is_packed) {  // zeros after the last total switch sequences off
      s.first_query = query, s.first_key = of.page > 0 ? 0 : key;
      query += s.queries = std::max<std::int64_t>(0, s.queries - query);
      key += s.keys = std::max<std::int64_t>(0, s.keys - key);
    } else {
      s.batch = n;
    }
    bit += of.heads * s.queries * s.keys;
  }
  if (of.mode >= 7) set_bands();
}

// The band is that of the last sequence with queries, or of the first one.
void AttentionCall::set_bands() {
  const bool is_last = of_->mode == 7;
  const auto has_queries = [](const AttentionSequence& s) { return s.queries > 0; };
  for (AttentionSequence& s : sequences_) {
    s.visibility = is_last ? Visibility::right_down : Visibility::left_up;
  }
  if (is_last) {
    const auto last = std::find_if(sequences_.rbegin(), sequences_.rend(), has_queries);
    if (last != sequences_.rend()) last->visibility = Visibility::band;
  } else {
    const auto first = std::find_if(sequences_.begin(), sequences_.end(), has_queries);
    if (first != sequences_.end()) first->visibility = Visibility::band;
  }
}

const std::uint8_t* AttentionCall::mask_row(const AttentionSequence& s, std::int64_t head,
                                            std::int64_t i) const {
  if (!of_->has_mask) return nullptr;
  return static_cast<const std::uint8_t*>(inputs_[of_->places.mask]) +
         of_->mask.at(s.batch, head, i);
}

void AttentionCall::shift_row(const AttentionSequence& s, std::int64_t head, std::int64_t i,
                              KeyRange keys, double* to) const {
  const Attention& a = *of_;
  const auto* const from = static_cast<const std::byte*>(inputs_[a.places.shift]);
  const auto width = static_cast<std::int64_t>(size_of(a.shift_dtype));
  if (a.shift_type >= 2) {
    double slope = 0;
    to_doubles(a.shift_dtype, from + a.shift.at(s.batch, head, 0) * width, 1, &slope);
    for (std::int64_t j = keys.first; j < keys.end; ++j) {
      const double distance = std::fabs(double(j - i));
      to[j - keys.first] = -slope * (a.shift_type == 3 ? std::sqrt(distance) : distance);
    }
    return;
  }
  // Rows before the first one given equal it, moved along the diagonal.
  const std::int64_t before = a.shift_rows == 0 ? 0 : a.queries - a.shift_rows;
  const std::int64_t row = a.shift_rows == 0 ? 0 : i - before;
  if (row >= 0) {
    to_doubles(a.shift_dtype, from + (a.shift.at(s.batch, head, row) + keys.first) * width,
               keys.count(), to);
    return;
  }
  const std::int64_t last = a.shift_rows - 1, step = a.queries - 1 - i;
  for (std::int64_t j = keys.first; j < keys.end; ++j) {
    const std::int64_t at = std::min(j + step, a.keys - 1);
    to_doubles(a.shift_dtype, from + (a.shift.at(s.batch, head, last) + at) * width, 1,
               to + j - keys.first);
  }
}

bool AttentionCall::keeps(const AttentionSequence& s, std::int64_t head, std::int64_t i,
                          std::int64_t j) const {
  const std::int64_t bit = s.first_bit + (head * s.queries + i) * s.keys + j;
  const auto byte = static_cast<const std::uint8_t*>(inputs_[of_->places.drop])[bit / 8];
  return ((byte >> (bit % 8)) & 1) != 0;
}

std::optional<float> AttentionCall::sink(std::int64_t head) const {
  if (!of_->has_sink) return std::nullopt;
  const auto* const from = static_cast<const std::byte*>(inputs_[of_->places.sink]);
  const auto width = static_cast<std::int64_t>(size_of(of_->sink_dtype));
  double sink = 0;
  to_doubles(of_->sink_dtype, from + head * width, 1, &sink);
  return static_cast<float>(sink);
}

}  // namespace opbench
