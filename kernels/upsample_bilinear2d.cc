// Planes resized by interpolation: every element from its four sources, or rows first and then
// columns, like the device.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/upsample_bilinear2d.cc"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/simd/channel_planes.h"
#include "kernels/simd/simd-inl.h"
#include "ops/upsample.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

// to = a + (b - a)*share
void mix_rows(const float* a, const float* b, float share, std::int64_t count, float* to) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, share);
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    const auto first = hn::LoadU(d, a + i);
    hn::StoreU(hn::MulAdd(hn::Sub(hn::LoadU(d, b + i), first), factor, first), d, to + i);
  }
  for (; i < count; ++i) to[i] = a[i] + (b[i] - a[i]) * share;
}

// to = a + (b - a)*share, for columns a and b of a row.
void mix_columns(const float* row, const std::int32_t* first, const std::int32_t* second,
                 const float* share, std::int64_t count, float* to) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    const auto a = hn::GatherIndex(d, row, hn::LoadU(di, first + i));
    const auto b = hn::GatherIndex(d, row, hn::LoadU(di, second + i));
    hn::StoreU(hn::MulAdd(hn::Sub(b, a), hn::LoadU(d, share + i), a), d, to + i);
  }
  for (; i < count; ++i) {
    const float a = row[first[i]];
    to[i] = a + (row[second[i]] - a) * share[i];
  }
}

// to += row*share
void add_row(const float* row, float share, std::int64_t count, float* to) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, share);
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, row + i), factor, hn::LoadU(d, to + i)), d, to + i);
  }
  for (; i < count; ++i) to[i] += row[i] * share;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(mix_rows);
HWY_EXPORT(mix_columns);
HWY_EXPORT(add_row);

using Place = LinearPlace<float>;
using Linear = LinearPlanes<float>;

// The columns as the lanes read them.
struct Columns {
  std::vector<std::int32_t> first, second;
  std::vector<float> share;

  explicit Columns(const std::vector<Place>& places) {
    for (const Place& place : places) {
      first.push_back(static_cast<std::int32_t>(place.first));
      second.push_back(static_cast<std::int32_t>(place.second));
      share.push_back(place.share);
    }
  }
  std::int64_t count() const { return std::ssize(share); }
};

struct Planes : Linear {
  Columns by_lanes;

  Planes(const TensorDesc& x, const TensorDesc& y, const Attrs& attrs)
      : Linear(x.shape, y.shape, attrs), by_lanes(columns) {}
};

void mix_four(const Planes& of, const float* x, float* y) {
  for (const Place& row : of.rows) {
    const float *const a = x + row.first * of.w, *const b = x + row.second * of.w;
    for (const Place& column : of.columns) {
      const float left = 1 - column.share;
      *y++ = (1 - row.share) * (left * a[column.first] + column.share * a[column.second]) +
             row.share * (left * b[column.first] + column.share * b[column.second]);
    }
  }
}

void mix_by_axes(const Planes& of, const float* x, float* y) {
  thread_local std::vector<float> mixed;
  mixed.resize(static_cast<std::size_t>(of.w));
  for (const Place& row : of.rows) {
    HWY_DYNAMIC_DISPATCH(mix_rows)
    (x + row.first * of.w, x + row.second * of.w, row.share, of.w, mixed.data());
    HWY_DYNAMIC_DISPATCH(mix_columns)
    (mixed.data(), of.by_lanes.first.data(), of.by_lanes.second.data(), of.by_lanes.share.data(),
     of.by_lanes.count(), y);
    y += of.by_lanes.count();
  }
}

void spread_four(const Planes& of, const float* dy, float* dx) {
  std::fill_n(dx, of.h * of.w, 0.0f);
  for (const Place& row : of.rows) {
    float *const a = dx + row.first * of.w, *const b = dx + row.second * of.w;
    for (const Place& column : of.columns) {
      const float above = (1 - row.share) * *dy, below = row.share * *dy++;
      const float left = 1 - column.share;
      a[column.first] += left * above;
      a[column.second] += column.share * above;
      b[column.first] += left * below;
      b[column.second] += column.share * below;
    }
  }
}

void spread_by_axes(const Planes& of, const float* dy, float* dx) {
  thread_local std::vector<float> row_sums;
  std::fill_n(dx, of.h * of.w, 0.0f);
  for (const Place& row : of.rows) {
    row_sums.assign(static_cast<std::size_t>(of.w), 0.0f);
    for (const Place& column : of.columns) {
      row_sums[static_cast<std::size_t>(column.first)] += (1 - column.share) * *dy;
      row_sums[static_cast<std::size_t>(column.second)] += column.share * *dy++;
    }
    HWY_DYNAMIC_DISPATCH(add_row)
    (row_sums.data(), 1 - row.share, of.w, dx + row.first * of.w);
    HWY_DYNAMIC_DISPATCH(add_row)
    (row_sums.data(), row.share, of.w, dx + row.second * of.w);
  }
}

// Plane by plane in fp32. `kIsGradient`: from dy, the larger plane, to dx.
template <void (*kCompute)(const Planes&, const float*, float*), bool kIsGradient>
Launch prepare(const Problem& problem) {
  const TensorDesc &input = problem.inputs[0], &output = problem.outputs[0];
  const Planes of =
      kIsGradient ? Planes(output, input, problem.attrs) : Planes(input, output, problem.attrs);
  return [from = ChannelPlanes(input), to = ChannelPlanes(output), of](const KernelArgs& args) {
    map_planes(from, to, args.inputs[0], args.outputs[0],
               [&](const float* x, float* y) { kCompute(of, x, y); });
  };
}

const RegisteredKernel native{{
    .op = "upsample_bilinear2d",
    .name = "native",
    .provider = Provider::framework,
    .summary = "each element from its four sources, in fp32",
    .prepare = prepare<mix_four, false>,
}};

const RegisteredKernel resize{{
    .op = "upsample_bilinear2d",
    .name = "resize_bilinear_v2",
    .provider = Provider::npu,
    .summary = "ResizeBilinearV2: a + (b - a)*share between rows, then between columns, in fp32",
    .prepare = prepare<mix_by_axes, false>,
}};

const RegisteredKernel native_grad{{
    .op = "upsample_bilinear2d_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then every element shared among its four sources, in fp32",
    .prepare = prepare<spread_four, true>,
}};

const RegisteredKernel resize_grad{{
    .op = "upsample_bilinear2d_grad",
    .name = "resize_bilinear_v2_grad",
    .family = "resize_bilinear_v2",
    .provider = Provider::npu,
    .summary = "ResizeBilinearV2Grad: shares of columns, then shares of rows, in fp32",
    .prepare = prepare<spread_by_axes, true>,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
