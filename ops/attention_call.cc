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

AttentionSequence AttentionCall::sequence(std::int64_t number) const {
  const Attention& a = *of_;
  AttentionSequence s{.number = number, .visibility = a.visibility()};
  if (a.has_prefix) s.prefix = whole(a.places.prefix, a.prefixes, number);
  if (!a.is_packed) {
    s.batch = number;
    s.queries = a.queries;
    s.keys = a.keys;
    s.first_bit = number * a.heads * a.queries * a.keys;
    return s;
  }
  // Zeros after the last total switch sequences off.
  std::int64_t first_used = -1, last_used = -1;
  std::int64_t query = 0, key = 0, bit = 0;
  for (std::int64_t n = 0; n < a.sequence_count; ++n) {
    const std::int64_t query_end = whole(a.places.query_ends, a.query_ends, n),
                       key_end = whole(a.places.key_ends, a.key_ends, n);
    const std::int64_t queries = std::max<std::int64_t>(0, query_end - query),
                       keys = std::max<std::int64_t>(0, key_end - key);
    if (n == number) {
      s.first_query = query, s.queries = queries, s.first_key = key, s.keys = keys;
      s.first_bit = bit;
    }
    if (queries > 0) {
      last_used = n;
      if (first_used < 0) first_used = n;
    }
    query += queries;
    key += keys;
    bit += a.heads * queries * keys;
  }
  if (a.mode == 7) {
    s.visibility = number == last_used ? Visibility::band : Visibility::right_down;
  } else if (a.mode == 8) {
    s.visibility = number == first_used ? Visibility::band : Visibility::left_up;
  }
  return s;
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
