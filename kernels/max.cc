// Maximum and place along an axis. Elements are mapped to integers in the same order (keys). The
// first greatest key gives the place, and the value is read from there.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/max.cc"
#include <fmt/format.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/kernel.h"
#include "kernels/simd/order_keys.h"
#include "ops/movement.h"
#include "ops/order.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kPiece = 1024;  // elements with keys that stay in the L1 cache

// The keys of `count` <= kPiece elements; integers are their own keys.
template <class KeyOf, class T, class Key>
HWY_INLINE const Key* keys_of(const T* x, std::int64_t count, Key* keys) {
  if constexpr (std::is_same_v<KeyOf, AsIs> && std::is_same_v<T, Key>) {
    return x;
  } else {
    for (std::int64_t i = 0; i < count; ++i) keys[i] = KeyOf()(x[i]);
    return keys;
  }
}

template <class Key>
HWY_INLINE Key greatest(const Key* keys, std::int64_t count) {
  const hn::ScalableTag<Key> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  Key result = keys[0];
  std::int64_t i = 0;
  if (count >= lanes) {
    // The last vector overlaps the one before: a key that is compared twice does not change the
    // maximum.
    auto a = hn::LoadU(d, keys), b = hn::LoadU(d, keys + count - lanes), c = a, e = b;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      a = hn::Max(a, hn::LoadU(d, keys + i));
      b = hn::Max(b, hn::LoadU(d, keys + i + lanes));
      c = hn::Max(c, hn::LoadU(d, keys + i + 2 * lanes));
      e = hn::Max(e, hn::LoadU(d, keys + i + 3 * lanes));
    }
    for (; i + lanes <= count; i += lanes) a = hn::Max(a, hn::LoadU(d, keys + i));
    i = count;
    HWY_ALIGN Key all[hn::MaxLanes(hn::ScalableTag<Key>())];
    hn::Store(hn::Max(hn::Max(a, b), hn::Max(c, e)), d, all);
    for (std::int64_t k = 0; k < lanes; ++k) result = std::max(result, all[k]);
  }
  for (; i < count; ++i) result = std::max(result, keys[i]);
  return result;
}

template <class Key>
HWY_INLINE std::int64_t place_of(Key key, const Key* keys, std::int64_t count) {
  const hn::ScalableTag<Key> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto wanted = hn::Set(d, key);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto found = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, keys + i), wanted));
    if (found >= 0) return i + found;
  }
  while (keys[i] != key) ++i;
  return i;
}

// A contiguous line: piece by piece, so that the search for the place finds the data in the cache.
template <class KeyOf, class T>
std::int64_t place_in_line(const T* x, std::int64_t count) {
  using Key = decltype(KeyOf()(T()));
  Key buffer[kPiece], best{};
  std::int64_t place = -1;
  for (std::int64_t first = 0; first < count; first += kPiece) {
    const std::int64_t part = std::min(kPiece, count - first);
    const Key* keys = keys_of<KeyOf>(x + first, part, buffer);
    const Key key = greatest(keys, part);
    if (place >= 0 && key <= best) continue;
    best = key;
    place = first + place_of(key, keys, part);
  }
  return place;
}

// Neighbouring columns: their greatest keys so far, and the rows of these keys in equally wide
// lanes.
template <class Key>
HWY_INLINE void update(const Key* keys, Key row, std::int64_t count, Key* best, Key* rows) {
  const hn::ScalableTag<Key> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto key = hn::LoadU(d, keys + i), old = hn::LoadU(d, best + i);
    const auto is_greater = hn::Gt(key, old);
    hn::StoreU(hn::IfThenElse(is_greater, key, old), d, best + i);
    hn::StoreU(hn::IfThenElse(is_greater, hn::Set(d, row), hn::LoadU(d, rows + i)), d, rows + i);
  }
  for (; i < count; ++i) {
    if (keys[i] <= best[i]) continue;
    best[i] = keys[i];
    rows[i] = row;
  }
}

// Up to kPiece neighbouring columns of lines `inner` apart: their greatest keys and the places of
// the first. Rows are counted within blocks, because the key's type limits the count.
template <class KeyOf, class T, class Key>
void max_of_columns(const T* x, std::int64_t extent, std::int64_t inner, std::int64_t count,
                    Key* greatest_keys, std::int64_t* places) {
  constexpr auto kBlock =
      std::min<std::int64_t>(std::numeric_limits<Key>::max(), std::int64_t{1} << 30);
  Key buffer[kPiece], best[kPiece], rows[kPiece];
  for (std::int64_t first = 0; first < extent; first += kBlock) {
    const std::int64_t block = std::min(kBlock, extent - first);
    const T* from = x + first * inner;
    std::copy_n(keys_of<KeyOf>(from, count, buffer), count, best);
    std::fill_n(rows, count, Key{0});
    for (std::int64_t k = 1; k < block; ++k) {
      const Key* keys = keys_of<KeyOf>(from + k * inner, count, buffer);
      update(keys, static_cast<Key>(k), count, best, rows);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (first > 0 && best[i] <= greatest_keys[i]) continue;
      greatest_keys[i] = best[i];
      places[i] = first + static_cast<std::int64_t>(rows[i]);
    }
  }
}

// A column of few elements.
template <class KeyOf, class T>
std::int64_t place_in_column(const T* x, std::int64_t extent, std::int64_t inner) {
  auto best = KeyOf()(x[0]);
  std::int64_t place = 0;
  for (std::int64_t k = 1; k < extent; ++k) {
    const auto key = KeyOf()(x[k * inner]);
    if (key <= best) continue;
    best = key;
    place = k;
  }
  return place;
}

constexpr std::int64_t kNarrow = 64;  // fewer columns do not fill vectors

// All columns of one outer index if they are few: several rows form a wide row.
template <class KeyOf, class T>
void max_of_narrow(const T* x, const AxisView& view, std::int64_t* places) {
  using Key = decltype(KeyOf()(T()));
  const std::int64_t inner = view.inner, rows = std::min(view.extent, 2 * kNarrow / inner);
  Key keys[kPiece];
  std::int64_t wide_places[kPiece];
  const std::int64_t wide_rows = view.extent / rows;
  max_of_columns<KeyOf>(x, wide_rows, rows * inner, rows * inner, keys, wide_places);
  for (std::int64_t i = 0; i < inner; ++i) {
    Key best = keys[i];
    places[i] = wide_places[i] * rows;
    for (std::int64_t row = 1; row < rows; ++row) {
      const Key key = keys[row * inner + i];
      const std::int64_t place = wide_places[row * inner + i] * rows + row;
      if (key < best || (key == best && place > places[i])) continue;
      best = key;
      places[i] = place;
    }
    for (std::int64_t k = wide_rows * rows; k < view.extent; ++k) {
      const Key key = KeyOf()(x[k * inner + i]);
      if (key <= best) continue;
      best = key;
      places[i] = k;
    }
  }
}

// Lines [begin, end) along the last axis. The keys of short lines are computed together.
template <class KeyOf, class T>
void places_in_lines(const T* x, std::int64_t extent, std::int64_t begin, std::int64_t end,
                     std::int64_t* places) {
  using Key = decltype(KeyOf()(T()));
  const std::int64_t together = kPiece / extent;
  if (together == 0) {
    for (std::int64_t i = begin; i < end; ++i) {
      places[i] = place_in_line<KeyOf>(x + i * extent, extent);
    }
    return;
  }
  Key buffer[kPiece];
  for (std::int64_t i = begin; i < end; i += together) {
    const std::int64_t lines = std::min(together, end - i);
    const Key* keys = keys_of<KeyOf>(x + i * extent, lines * extent, buffer);
    for (std::int64_t k = 0; k < lines; ++k, keys += extent) {
      places[i + k] = place_of(greatest(keys, extent), keys, extent);
    }
  }
}

// Outputs [begin, end), in whole groups of `inner` if that is narrow.
template <class KeyOf, class T>
void places_of(const AxisView& view, const T* x, std::int64_t begin, std::int64_t end,
               std::int64_t* places) {
  if (view.inner == 1) return places_in_lines<KeyOf>(x, view.extent, begin, end, places);
  decltype(KeyOf()(T())) keys[kPiece];
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t column = i % view.inner;
    const std::int64_t count = std::min({kPiece, view.inner - column, end - i});
    const T* from = x + i / view.inner * view.extent * view.inner + column;
    if (view.inner * view.extent < kNarrow) {
      for (std::int64_t k = 0; k < count; ++k) {
        places[i + k] = place_in_column<KeyOf>(from + k, view.extent, view.inner);
      }
    } else if (count == view.inner && view.inner < kNarrow) {
      max_of_narrow<KeyOf>(from, view, places + i);
    } else {
      max_of_columns<KeyOf>(from, view.extent, view.inner, count, keys, places + i);
    }
    i += count;
  }
}

}  // namespace

void max_places(DType dtype, bool cast, const AxisView& view, const KernelArgs& args,
                std::int64_t begin, std::int64_t end) {
  visit_ordered(dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto* x = static_cast<const T*>(args.inputs[0]);
    auto* places = static_cast<std::int64_t*>(args.outputs[1]);
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::int32_t>) {
      if (cast) return places_of<CastToFp32>(view, x, begin, end, places);
    }
    places_of<AsIs>(view, x, begin, end, places);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(max_places);

// The elements at the found places.
template <class T>
void take_values(const AxisView& view, const KernelArgs& args, std::int64_t begin,
                 std::int64_t end) {
  const auto* places = static_cast<const std::int64_t*>(args.outputs[1]);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t line = i / view.inner * view.extent * view.inner + i % view.inner;
    static_cast<T*>(args.outputs[0])[i] =
        static_cast<const T*>(args.inputs[0])[line + places[i] * view.inner];
  }
}

template <bool kCast>
Launch prepare(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return [dtype = problem.inputs[0].dtype,
          view = AxisView(shape, axis_of("max", shape, problem.attrs.integer("axis")))](
             const KernelArgs& args) {
    parallel_ranges(view.outer * view.inner, 16, [&](std::int64_t begin, std::int64_t end) {
      HWY_DYNAMIC_DISPATCH(max_places)(dtype, kCast, view, args, begin, end);
      visit_ordered(dtype, [&](auto tag) { take_values<decltype(tag)>(view, args, begin, end); });
    });
  };
}

const RegisteredKernel arg_max_with_value{{
    .op = "max",
    .name = "arg_max_with_value",
    .provider = Provider::npu,
    .summary = "ArgMaxWithValue: whole vectors of order-preserving keys, one pass",
    .dtypes = {DType::fp32, DType::fp16, DType::bf16, DType::int64, DType::int32},
    .prepare = prepare<false>,
}};

const RegisteredKernel cast_fp32{{
    .op = "max",
    .name = "cast_fp32",
    .provider = Provider::npu,
    .summary = "cast to fp32 first, which AI Core takes; the same within +-2^24, beyond it "
               "neighbours tie",
    .dtypes = {DType::int64, DType::int32},
    .prepare = prepare<true>,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
