#include "tensor/element_rectangle.h"

#include <algorithm>

#include "tensor/slab.h"
#include "tensor/width.h"

namespace opbench {
namespace {

template <class T>
void gather(const ElementRectangle& r, const T* stored, T* logical) {
  for (std::int64_t lane = 0; lane < r.lanes; ++lane) {
    const T* const from = stored + lane * r.lane_stride;
    T* const to = logical + lane * r.logical_stride;
    for (std::int64_t i = 0; i < r.pixels; ++i) to[i] = from[i * r.pixel_stride];
  }
}

template <class T>
void scatter(const ElementRectangle& r, const T* logical, T* stored) {
  for (std::int64_t lane = 0; lane < r.lanes; ++lane) {
    const T* const from = logical + lane * r.logical_stride;
    T* const to = stored + lane * r.lane_stride;
    for (std::int64_t i = 0; i < r.pixels; ++i) to[i * r.pixel_stride] = from[i];
  }
}

bool is_slab(const ElementRectangle& r) {
  return r.lanes > 1 && r.lane_stride == 1 && r.pixel_stride > 1;
}

/// Pixels start where `pixel_stride` divides the offset, in every format.
SlabPart slab_part(const ElementRectangle& r) {
  return {.c0 = r.pixel_stride,
          .first_lane = r.stored % r.pixel_stride,
          .lanes = static_cast<int>(r.lanes),
          .pixels = r.pixels,
          .plain_stride = r.logical_stride};
}

template <class T>
void read(const ElementRectangle& r, const T* storage, T* to) {
  to += r.logical;
  if (r.pixel_stride == 1) {
    for (std::int64_t i = 0; i < r.lanes; ++i) {
      std::copy_n(storage + r.stored + i * r.lane_stride, r.pixels, to + i * r.logical_stride);
    }
  } else if (is_slab(r)) {
    const SlabPart part = slab_part(r);
    slab_to_plain(part, storage + r.stored - part.first_lane, to, sizeof(T));
  } else {
    gather(r, storage + r.stored, to);
  }
}

template <class T>
void write(const ElementRectangle& r, const T* from, T* storage) {
  from += r.logical;
  if (r.pixel_stride == 1) {
    for (std::int64_t i = 0; i < r.lanes; ++i) {
      std::copy_n(from + i * r.logical_stride, r.pixels, storage + r.stored + i * r.lane_stride);
    }
  } else if (is_slab(r)) {
    const SlabPart part = slab_part(r);
    slab_from_plain(part, from, storage + r.stored - part.first_lane, sizeof(T));
  } else {
    scatter(r, from, storage + r.stored);
  }
}

}  // namespace

void read_rectangle(const ElementRectangle& rectangle, const void* storage, void* to,
                    std::size_t element_bytes) {
  visit_width(element_bytes, [&]<class T>(T) {
    read(rectangle, static_cast<const T*>(storage), static_cast<T*>(to));
  });
}

void write_rectangle(const ElementRectangle& rectangle, const void* from, void* storage,
                     std::size_t element_bytes) {
  visit_width(element_bytes, [&]<class T>(T) {
    write(rectangle, static_cast<const T*>(from), static_cast<T*>(storage));
  });
}

}  // namespace opbench
