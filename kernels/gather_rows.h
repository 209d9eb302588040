#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ops/gather.h"

namespace opbench {

/// Iterates over rows [begin, end) of a gather's output: calls `visit(slice, row of x)`, with row
/// -1 for zeros.
template <class Index, class Visit>
void for_each_gathered_row(const GatherView& of, const Index* index, std::int64_t begin,
                           std::int64_t end, Visit visit) {
  const GatherView view = of;  // a local copy, so that no write can alias it
  std::int64_t slice = begin / view.count, position = begin % view.count;
  const Index* of_batch = index + slice / view.outer * view.count;
  for (std::int64_t row = begin; row < end; ++row) {
    visit(slice, view.row_of(std::int64_t{of_batch[position]}));
    if (++position < view.count) continue;
    position = 0;
    ++slice;
    of_batch = index + slice / view.outer * view.count;
  }
}

/// Copies the rows with plain stores: rows of `bytes`, or of kBytes unless it is 0.
template <std::size_t kBytes, class Index>
void copy_rows_of(const GatherView& view, const Index* index, std::int64_t begin, std::int64_t end,
                  std::size_t bytes, const std::byte* x, std::byte* y) {
  const std::size_t size = kBytes == 0 ? bytes : kBytes;
  std::byte* to = y + static_cast<std::size_t>(begin) * size;
  for_each_gathered_row(view, index, begin, end, [&](std::int64_t slice, std::int64_t row) {
    if (row < 0) {
      std::memset(to, 0, size);
    } else {
      std::memcpy(to, x + static_cast<std::size_t>(slice * view.extent + row) * size, size);
    }
    to += size;
  });
}

/// Copies the rows, with specialised code for single elements and short rows.
template <class Index>
void copy_gathered_rows(const GatherView& view, const Index* index, std::int64_t begin,
                        std::int64_t end, std::size_t bytes, const std::byte* x, std::byte* y) {
  switch (bytes) {
    case 1:
      return copy_rows_of<1>(view, index, begin, end, bytes, x, y);
    case 2:
      return copy_rows_of<2>(view, index, begin, end, bytes, x, y);
    case 4:
      return copy_rows_of<4>(view, index, begin, end, bytes, x, y);
    case 8:
      return copy_rows_of<8>(view, index, begin, end, bytes, x, y);
    case 16:
      return copy_rows_of<16>(view, index, begin, end, bytes, x, y);
    case 32:
      return copy_rows_of<32>(view, index, begin, end, bytes, x, y);
    default:
      return copy_rows_of<0>(view, index, begin, end, bytes, x, y);
  }
}

/// Copies the rows element by element, like a scalar unit. Without `volatile` the compiler would
/// join the elements to vectors.
template <class Element, class Index>
void copy_elements_of(const GatherView& view, const Index* index, std::int64_t begin,
                      std::int64_t end, const std::byte* x, std::byte* y) {
  const auto* from = reinterpret_cast<const volatile Element*>(x);
  auto* to = reinterpret_cast<volatile Element*>(y) + begin * view.row;
  const std::int64_t length = view.row;
  for_each_gathered_row(view, index, begin, end, [&](std::int64_t slice, std::int64_t row) {
    const auto* const source = from + (slice * view.extent + row) * length;
    for (std::int64_t i = 0; i < length; ++i) to[i] = row < 0 ? Element{} : Element{source[i]};
    to += length;
  });
}

/// Copies the rows element by element; an element has 1, 2, 4 or 8 bytes.
template <class Index>
void copy_gathered_elements(const GatherView& view, const Index* index, std::int64_t begin,
                            std::int64_t end, std::int64_t element_bytes, const std::byte* x,
                            std::byte* y) {
  switch (element_bytes) {
    case 1:
      return copy_elements_of<std::uint8_t>(view, index, begin, end, x, y);
    case 2:
      return copy_elements_of<std::uint16_t>(view, index, begin, end, x, y);
    case 4:
      return copy_elements_of<std::uint32_t>(view, index, begin, end, x, y);
    default:
      return copy_elements_of<std::uint64_t>(view, index, begin, end, x, y);
  }
}

}  // namespace opbench
