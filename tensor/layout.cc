#include "tensor/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tensor/element_map.h"
#include "tensor/elements.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/slab.h"

namespace opbench {
namespace {

constexpr std::int64_t kPiecePixels = 4096;
constexpr std::int64_t kGrainElements = 16 * 1024;  // worth waking a thread for

/// Some pixels of one (n, c1) slab, with the offsets of the first in both layouts, in elements.
struct Piece {
  SlabPart part;
  std::int64_t plain = 0;
  std::int64_t blocked = 0;
};

/// Cuts an [n, c, pixels] tensor into pieces that threads can work on alone.
struct Pieces {
  std::int64_t c, c1, pixels, per_slab, count;
  int c0;

  Pieces(const Dims& nchw, int inner) : c0(inner) {
    c = nchw[1];
    c1 = (c + c0 - 1) / c0;
    pixels = nchw[2] * nchw[3];
    per_slab = (pixels + kPiecePixels - 1) / kPiecePixels;
    count = nchw[0] * c1 * per_slab;
  }
  std::int64_t grain() const {
    return std::max<std::int64_t>(1, kGrainElements / (std::min(pixels, kPiecePixels) * c0));
  }
  Piece piece(std::int64_t index) const {
    const std::int64_t slab = index / per_slab, pixel = index % per_slab * kPiecePixels;
    const std::int64_t n = slab / c1, first_channel = slab % c1 * c0;
    return {.part = {.c0 = c0,
                     .lanes = static_cast<int>(std::min<std::int64_t>(c0, c - first_channel)),
                     .pixels = std::min(kPiecePixels, pixels - pixel),
                     .plain_stride = pixels},
            .plain = (n * c + first_channel) * pixels + pixel,
            .blocked = (slab * pixels + pixel) * c0};
  }
};

template <class Visit>
void for_each_piece(const Dims& nchw, int c0, Visit visit) {
  if (c0 < 1) throw Error(fmt::format("NC1HWC0: c0 is {}, but must be positive", c0));
  if (element_count(nchw) == 0) return;
  const Pieces pieces(nchw, c0);
  parallel_ranges(pieces.count, pieces.grain(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) visit(pieces.piece(i));
  });
}

void copy_all(const Tensor& from, Tensor& to) {
  parallel_ranges(static_cast<std::int64_t>(to.desc.bytes()), kGrainElements,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::copy(from.as<std::byte>() + begin, from.as<std::byte>() + end,
                              to.as<std::byte>() + begin);
                  });
}

/// Blocks of the format that needs the larger ones, through a buffer: written elements follow each
/// other in logical order, and so do those read.
void convert_by_elements(const Tensor& from, Tensor& to) {
  clear_padding(to.desc, to.data());
  const TensorDesc& cut = largest_block(from.desc) > largest_block(to.desc) ? from.desc : to.desc;
  parallel_blocks(block_count(cut), [&](std::int64_t index) {
    const ElementRange range = block(cut, index);
    thread_local std::vector<std::byte> elements;
    const std::size_t bytes = static_cast<std::size_t>(range.count) * size_of(cut.dtype);
    elements.resize(std::max(elements.size(), bytes));
    read_elements(from.desc, from.data(), range, elements.data());
    write_elements(to.desc, to.data(), range, elements.data());
  });
}

bool is_nc1hwc0(const TensorDesc& desc) {
  return desc.format == Format::NC1HWC0 && !is_row_major(desc);
}

bool is_stored_alike(const TensorDesc& a, const TensorDesc& b) {
  return a.storage_elements() == b.storage_elements() && !has_padding(a) &&
         (is_row_major(a) ? is_row_major(b) : element_map(a) == element_map(b));
}

}  // namespace

void nchw_to_nc1hwc0(const void* from, void* to, const Dims& nchw, int c0,
                     std::size_t element_bytes) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  for_each_piece(nchw, c0, [&](const Piece& piece) {
    slab_from_plain_padded(piece.part, static_cast<const std::byte*>(from) + piece.plain * bytes,
                           static_cast<std::byte*>(to) + piece.blocked * bytes, element_bytes);
  });
}

void nc1hwc0_to_nchw(const void* from, void* to, const Dims& nchw, int c0,
                     std::size_t element_bytes) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  for_each_piece(nchw, c0, [&](const Piece& piece) {
    slab_to_plain(piece.part, static_cast<const std::byte*>(from) + piece.blocked * bytes,
                  static_cast<std::byte*>(to) + piece.plain * bytes, element_bytes);
  });
}

void convert_layout(const Tensor& from, Tensor& to) {
  const TensorDesc &source = from.desc, &target = to.desc;
  if (source.dtype != target.dtype || source.shape != target.shape) {
    throw Error(fmt::format("cannot convert {} to {}: dtype and shape must be the same",
                            to_string(source), to_string(target)));
  }
  const std::size_t bytes = size_of(source.dtype);
  if (is_stored_alike(source, target)) {
    copy_all(from, to);
  } else if (is_row_major(source) && is_nc1hwc0(target)) {
    nchw_to_nc1hwc0(from.data(), to.data(), expand_to_nchw(source.shape), target.c0, bytes);
  } else if (is_nc1hwc0(source) && is_row_major(target)) {
    nc1hwc0_to_nchw(from.data(), to.data(), expand_to_nchw(source.shape), source.c0, bytes);
  } else {
    convert_by_elements(from, to);
  }
}

void clear_padding(const TensorDesc& desc, void* storage) {
  if (has_padding(desc)) fill_bytes(storage, 0, desc.bytes());
}

}  // namespace opbench
