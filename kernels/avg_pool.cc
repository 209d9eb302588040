// Average pools and their gradients plane by plane, like a framework.
#include <algorithm>

#include "kernels/simd/channel_planes.h"
#include "ops/pool.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The windows of a plane with their taps and divisors.
struct Windows {
  std::int64_t h, w;
  std::vector<TapRange> rows, columns;
  std::vector<float> divisors;

  explicit Windows(const AvgPool& of)
      : h(of.pool.h),
        w(of.pool.w),
        rows(taps_of(of.pool.rows(), of.pool.oh)),
        columns(taps_of(of.pool.columns(), of.pool.ow)) {
    for (std::int64_t i = 0; i < of.pool.oh * of.pool.ow; ++i) {
      divisors.push_back(static_cast<float>(of.divisor(i / of.pool.ow, i % of.pool.ow)));
    }
  }
  explicit Windows(const PoolGrid& of) : h(of.h), w(of.w), rows(of.rows), columns(of.columns) {
    for (const TapRange& row : rows) {
      for (const TapRange& column : columns) {
        divisors.push_back(
            static_cast<float>((row.last - row.first) * (column.last - column.first)));
      }
    }
  }

  // The rows of a window are added first, whole lines at a time, then its columns.
  void mean(const float* x, float* y) const {
    float* const sums = lines();
    const float* divisor = divisors.data();
    for (const TapRange& row : rows) {
      std::copy_n(x + row.first * w, w, sums);
      for (std::int64_t place = row.first + 1; place < row.last; ++place) {
        add_line(x + place * w, sums);
      }
      for (const TapRange& column : columns) {
        float sum = 0;
        for (std::int64_t i = column.first; i < column.last; ++i) sum += sums[i];
        *y++ = sum / *divisor++;
      }
    }
  }

  // An element of each window after the other, so that no addition waits for the one before.
  void spread(const float* dy, float* dx) const {
    float *const sums = lines(), *const shares = sums + w;
    const float* divisor = divisors.data();
    const std::size_t windows = columns.size();
    std::int64_t widest = 0;
    for (const TapRange& column : columns) widest = std::max(widest, column.last - column.first);
    std::fill_n(dx, h * w, 0.0f);
    for (const TapRange& row : rows) {
      for (std::size_t i = 0; i < windows; ++i) shares[i] = dy[i] / divisor[i];
      dy += windows, divisor += windows;
      std::fill_n(sums, w, 0.0f);
      for (std::int64_t k = 0; k < widest; ++k) {
        for (std::size_t i = 0; i < windows; ++i) {
          const std::int64_t place = columns[i].first + k;
          if (place < columns[i].last) sums[place] += shares[i];
        }
      }
      for (std::int64_t place = row.first; place < row.last; ++place) {
        add_line(sums, dx + place * w);
      }
    }
  }

 private:
  void add_line(const float* line, float* to) const {
    for (std::int64_t i = 0; i < w; ++i) to[i] += line[i];
  }
  // A line of the plane and one of the windows.
  float* lines() const {
    thread_local std::vector<float> values;
    values.resize(static_cast<std::size_t>(w) + columns.size());
    return values.data();
  }
};

enum class Side { mean, spread };

template <Side kSide>
Launch plane_by_plane(const Problem& problem, const Windows& windows) {
  const ChannelPlanes from(problem.inputs[0]), to(problem.outputs[0]);
  return [from, to, windows](const KernelArgs& args) {
    map_planes(from, to, args.inputs[0], args.outputs[0], [&](const float* x, float* y) {
      kSide == Side::mean ? windows.mean(x, y) : windows.spread(x, y);
    });
  };
}

// kWindows: the function that makes the windows from the description of the input.
template <Side kSide, auto kWindows>
Launch prepare(const Problem& problem) {
  return plane_by_plane<kSide>(problem, Windows(kWindows(problem.inputs[0], problem.attrs)));
}

std::string refuse_private(const Problem& problem) {
  return is_private(problem.inputs[0].format) ? "a framework's pool takes plain tensors" : "";
}

Kernel pool(std::string_view op, Launch (*prepare)(const Problem& problem)) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = op.ends_with("_grad") ? "zeros, then dy/n added to all elements of each window"
                                           : "the rows of a window added in fp32, then its columns",
          .refusal = refuse_private,
          .prepare = prepare};
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(pool("avg_pool2d", prepare<Side::mean, avg_pool_shape>)),
    RegisteredKernel(pool("avg_pool2d_grad", prepare<Side::spread, avg_pool_grad_shape>)),
    RegisteredKernel(pool("adaptive_avg_pool2d", prepare<Side::mean, adaptive_grid>)),
    RegisteredKernel(pool("adaptive_avg_pool2d_grad", prepare<Side::spread, adaptive_grad_grid>)),
};

}  // namespace
}  // namespace opbench
