#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/simd/channel_planes.h"
#include "kernels/simd/row_sums.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kBlock = 512;                // channels with sums that stay in the L1 cache
constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread

// The column sums of a matrix: each thread has its own columns and adds row by row.
void sum_columns(DType dtype, const ChannelView& view, const void* x, void* y) {
  constexpr std::int64_t kLine = 16;  // channels; a cache line of fp32
  const std::int64_t grain = kGrainElements / std::max<std::int64_t>(1, view.outer) + kLine;
  parallel_ranges(view.channels, grain / kLine * kLine, [&](std::int64_t begin, std::int64_t end) {
    std::array<float, kBlock> sums;
    for (std::int64_t c = begin; c < end; c += kBlock) {
      const std::int64_t count = std::min(kBlock, end - c);
      std::fill_n(sums.begin(), count, 0.0f);
      add_rows({dtype, at(x, dtype, c), view.outer, count, view.channels}, 1, sums.data());
      store_floats(dtype, sums.data(), count, at(y, dtype, c));
    }
  });
}

// The plane sums of some channels, image by image.
void sum_planes(DType dtype, const ChannelView& view, const void* x, void* y) {
  const std::int64_t grain = kGrainElements / std::max<std::int64_t>(1, view.count()) + 1;
  parallel_ranges(view.channels, grain, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kBlock> sums, totals;
    for (std::int64_t c = begin; c < end; c += kBlock) {
      const std::int64_t count = std::min(kBlock, end - c);
      std::fill_n(totals.begin(), count, 0.0);
      for (std::int64_t n = 0; n < view.outer; ++n) {
        const void* first = at(x, dtype, (n * view.channels + c) * view.inner);
        sum_rows_in_fp64({dtype, first, count, view.inner, view.inner}, sums.data());
        std::transform(sums.begin(), sums.begin() + count, totals.begin(), totals.begin(),
                       std::plus<>());
      }
      from_doubles(dtype, totals.data(), static_cast<std::size_t>(count), at(y, dtype, c));
    }
  });
}

Launch native_launch(const Problem& problem) {
  const ChannelView view = channel_view("bias_grad", "grad_output", problem.inputs[0]);
  return [view, dtype = problem.inputs[0].dtype](const KernelArgs& args) {
    const auto sum = view.inner == 1 ? sum_columns : sum_planes;
    sum(dtype, view, args.inputs[0], args.outputs[0]);
  };
}

// The sum of every plane (in NC1HWC0 16 channels side by side), then the sum over the images.
struct BiasAddGrad {
  ChannelPlanes x;
  std::vector<float> sums;  // [planes, lanes]

  explicit BiasAddGrad(const Problem& problem)
      : x(problem.inputs[0]), sums(static_cast<std::size_t>(x.count() * x.lanes)) {}

  void sum_images(std::int64_t begin, std::int64_t end, void* y) const {
    std::array<float, kBlock> totals;
    for (std::int64_t c = begin; c < end; c += kBlock) {
      const std::int64_t count = std::min(kBlock, end - c);
      std::fill_n(totals.begin(), count, 0.0f);
      add_rows({DType::fp32, sums.data() + c, x.outer, count, x.planes * x.lanes}, 1,
               totals.data());
      store_floats(x.dtype, totals.data(), count, at(y, x.dtype, c));
    }
  }

  void operator()(const KernelArgs& args) {
    const std::int64_t grain = kGrainElements / std::max<std::int64_t>(1, x.elements()) + 1;
    parallel_ranges(x.count(), grain, [&](std::int64_t begin, std::int64_t end) {
      sum_of_planes(x, args.inputs[0], begin, end, 1, sums.data() + begin * x.lanes);
    });
    for_each_range(x.channels, [&](std::int64_t begin, std::int64_t end) {
      sum_images(begin, end, args.outputs[0]);
    });
  }
};

// The columns of a matrix in FRACTAL_NZ, one block of c0 columns after the other. Rows past the
// last are padding.
struct FractalColumns {
  DType dtype;
  std::int64_t rows, columns, stored_rows, c0;

  explicit FractalColumns(const TensorDesc& x)
      : dtype(x.dtype), rows(x.shape[0]), columns(x.shape[1]) {
    const Dims storage = x.storage();  // N1, M1, 16, C0
    stored_rows = storage[1] * storage[2];
    c0 = storage[3];
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t grain = kGrainElements / std::max<std::int64_t>(1, rows * c0) + 1;
    parallel_ranges((columns + c0 - 1) / c0, grain, [&](std::int64_t begin, std::int64_t end) {
      std::array<float, kCube> sums;
      for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t count = std::min(c0, columns - block * c0);
        sums.fill(0);
        add_rows({dtype, at(args.inputs[0], dtype, block * stored_rows * c0), rows, count, c0}, 1,
                 sums.data());
        store_floats(dtype, sums.data(), count, at(args.outputs[0], dtype, block * c0));
      }
    });
  }
};

bool is_fractal(const Problem& problem) { return problem.inputs[0].format == Format::FRACTAL_NZ; }

Launch npu_launch(const Problem& problem) {
  if (is_fractal(problem)) return FractalColumns(problem.inputs[0]);
  // Planes of one element are the columns of a matrix.
  const bool is_matrix = problem.inputs[0].format != Format::NC1HWC0 &&
                         channel_view("bias_grad", "grad_output", problem.inputs[0]).inner == 1;
  if (is_matrix) return native_launch(problem);
  return [plan = std::make_shared<BiasAddGrad>(problem)](const KernelArgs& args) { (*plan)(args); };
}

std::string refuse_private(const Problem& problem) {
  return is_private(problem.inputs[0].format) ? "a framework's sum takes plain tensors" : "";
}

const RegisteredKernel native{{
    .op = "bias_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a sum over all axes but the channels'",
    .refusal = refuse_private,
    .prepare = native_launch,
}};

const RegisteredKernel bias_add_grad{{
    .op = "bias_grad",
    .name = "bias_add_grad",
    .provider = Provider::npu,
    .summary = "BiasAddGrad: fp32 sums, plane by plane",
    .refusal = [](const Problem& problem) -> std::string {
      if (is_fractal(problem) && problem.inputs[0].shape.size() != 2) {
        return "of FRACTAL_NZ the columns of a matrix are summed up";
      }
      const bool is_blocked = is_private(problem.inputs[0].format);
      return is_blocked && problem.inputs[0].c0 != kCube ? "blocks are taken of 16" : "";
    },
    .prepare = npu_launch,
    .temporary_bytes =
        [](const Problem& problem) {
          if (is_fractal(problem)) return std::size_t{0};
          const ChannelPlanes x(problem.inputs[0]);
          return static_cast<std::size_t>(x.count() * x.lanes) * sizeof(float);
        },
}};

}  // namespace
}  // namespace opbench
