#pragma once

#include <cstdint>

namespace opbench {

/// Columns of a packed part of the second factor. They are stored in strips of kIntegerStrip.
inline constexpr std::int64_t kIntegerPanel = 96, kIntegerStrip = 16;

/// The form of packed factors of 8 bits, in groups of terms of four bytes: pairs of int16, or four
/// bytes where the instruction set multiplies these exactly (AVX512-VNNI). The latter takes the
/// second factor plus 128, so that it has no sign.
enum class IntegerForm { pairs, bytes };

/// The form for the instruction set in use.
IntegerForm integer_form();

/// The layout of factors with `k` terms. Rows and strips are a cache line longer than their terms:
/// otherwise those of a power of two share the lines of one cache set.
struct IntegerLayout {
  IntegerForm form;
  std::int64_t k;

  std::int64_t terms() const { return form == IntegerForm::bytes ? 4 : 2; }  ///< of a group
  std::int64_t groups() const { return (k + terms() - 1) / terms(); }
  std::int64_t whole_squares() const { return k / terms() / 4 * 4; }  ///< multiples of 4 groups
  std::int64_t row_bytes() const { return (groups() * 4 + 63) / 64 * 64 + 64; }
  std::int64_t strip_bytes() const { return (groups() + 1) * kIntegerStrip * 4; }
  std::int64_t panel_bytes() const { return kIntegerPanel / kIntegerStrip * strip_bytes(); }
};

/// Packs k elements, `step` apart. Returns their sum, modulo 2^32.
std::int32_t pack_integer_row(const IntegerLayout& layout, const std::int8_t* from,
                              std::int64_t step, void* to);

/// Packs `columns` columns, at most kIntegerPanel. Terms are `step` elements apart, columns `next`;
/// one of both is 1.
void pack_integer_panel(const IntegerLayout& layout, const std::int8_t* from, std::int64_t step,
                        std::int64_t next, std::int64_t columns, void* to);

/// c[i*kIntegerPanel + j] = the sum over k of left row i times column j of the panel, exact modulo
/// 2^32. `sums` has the sum of each row of left. Columns past the last are undefined.
void integer_product(const IntegerLayout& layout, std::int64_t rows, std::int64_t columns,
                     const void* left, const std::int32_t* sums, const void* panel,
                     std::int32_t* c);

}  // namespace opbench
