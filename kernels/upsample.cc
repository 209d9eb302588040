// Planes enlarged by the nearest element, row by row: equal rows are copied as a whole.
#include <algorithm>
#include <cstring>

#include "kernels/simd/channel_planes.h"
#include "ops/pool.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

template <class T>
void enlarge_plane(const NearestPlaces& of, const T* x, T* y) {
  const std::size_t width = of.columns.size();
  for (std::size_t h = 0; h < of.rows.size(); ++h, y += width) {
    if (h > 0 && of.rows[h] == of.rows[h - 1]) {
      std::memcpy(y, y - width, width * sizeof(T));
      continue;
    }
    const T* const row = x + of.rows[h] * of.w;
    for (std::size_t w = 0; w < width; ++w) y[w] = row[of.columns[w]];
  }
}

Launch prepare(const Problem& problem) {
  return [of = nearest_places(problem.inputs[0], problem.attrs),
          size = size_of(problem.inputs[0].dtype)](const KernelArgs& args) {
    const std::int64_t from = of.h * of.w, to = std::ssize(of.rows) * std::ssize(of.columns);
    const auto enlarge = [&](auto unit) {
      using T = decltype(unit);
      parallel_blocks(of.planes, [&](std::int64_t plane) {
        enlarge_plane(of, static_cast<const T*>(args.inputs[0]) + plane * from,
                      static_cast<T*>(args.outputs[0]) + plane * to);
      });
    };
    if (size == 2) return enlarge(std::uint16_t{});
    enlarge(std::uint32_t{});
  };
}

void add_up_plane(const NearestPlaces& of, const float* dy, float* dx) {
  std::fill_n(dx, of.h * of.w, 0.0f);
  for (const std::int64_t row : of.rows) {
    float* const to = dx + row * of.w;
    for (const std::int64_t column : of.columns) to[column] += *dy++;
  }
}

Launch prepare_grad(const Problem& problem) {
  const ChannelPlanes from(problem.inputs[0]), to(problem.outputs[0]);
  return [from, to,
          of = nearest_grad_places(problem.inputs[0], problem.attrs)](const KernelArgs& args) {
    map_planes(from, to, args.inputs[0], args.outputs[0],
               [&](const float* dy, float* dx) { add_up_plane(of, dy, dx); });
  };
}

const RegisteredKernel native{{
    .op = "upsample_nearest2d",
    .name = "native",
    .provider = Provider::framework,
    .summary = "rows gathered by their columns, equal rows copied",
    .prepare = prepare,
}};

const RegisteredKernel native_grad{{
    .op = "upsample_nearest2d_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then every element added to its source, in fp32",
    .prepare = prepare_grad,
}};

}  // namespace
}  // namespace opbench
