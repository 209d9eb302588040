// weight_quant_batch_matmul_v2: the weight is widened to the dtype of x, then multiplied in fp32.
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "ops/quant_matmul.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kPanel = 96, kRows = 64;  // columns and rows of a tile

/// The numbers of a scale or an offset: of the tensor, of channels or of groups.
struct GroupNumbers {
  std::int64_t count = 0, group, columns;
  Scratch numbers;

  GroupNumbers(const Problem& problem, std::size_t input, const MatMulShape& s)
      : group(problem.attrs.integer("antiquant_group_size")),
        columns(s.n),
        numbers(is_given(problem.inputs, input) ? problem.inputs[input].elements() : 1) {
    if (is_given(problem.inputs, input)) count = problem.inputs[input].elements();
  }
  void load(DType dtype, const void* from, float usual) const {
    count > 0 ? load_floats(dtype, from, count, numbers.data()) : void(numbers.data()[0] = usual);
  }
  float at(std::int64_t k, std::int64_t n) const {
    if (count <= 1) return numbers.data()[0];
    return numbers.data()[group == 0 ? n : k / group * columns + n];
  }
};

struct WeightProduct {
  MatMulShape shape;
  DType dtype, weight_dtype, bias_dtype = DType::fp32;
  std::int64_t biases = 0;
  bool is_by_panel;
  GroupNumbers scale, offset;
  Scratch x, bias, weight;

  WeightProduct(const Problem& problem, bool by_panel)
      : shape(weight_quant_shape(problem.inputs, problem.attrs)),
        dtype(problem.inputs[0].dtype),
        weight_dtype(problem.inputs[1].dtype),
        is_by_panel(by_panel),
        scale(problem, 2, shape),
        offset(problem, 3, shape),
        x(shape.m * shape.k),
        bias(shape.n),
        weight(weight_elements(shape, by_panel)) {
    if (!is_given(problem.inputs, 4)) return;
    biases = problem.inputs[4].elements();
    bias_dtype = problem.inputs[4].dtype;
  }

  static std::int64_t panels(const MatMulShape& s) { return (s.n + kPanel - 1) / kPanel; }
  static std::int64_t weight_elements(const MatMulShape& s, bool by_panel) {
    return (by_panel ? thread_count() : panels(s)) * s.k * kPanel;
  }

  float rounded(float value) const {
    if (dtype == DType::fp16) return static_cast<float>(to_half(value));
    if (dtype == DType::bf16) return static_cast<float>(to_bfloat16(value));
    return value;
  }

  // Columns of a panel as rows of kPanel numbers: w + offset and the product with the scale are
  // rounded to the dtype of x.
  void widen_panel(const KernelArgs& args, std::int64_t panel, float* to) const {
    const std::int64_t first = panel * kPanel, width = std::min(kPanel, shape.n - first);
    for (std::int64_t k = 0; k < shape.k; ++k) {
      float* const row = to + k * kPanel;
      for (std::int64_t c = 0; c < width; ++c) {
        const std::int64_t n = first + c;
        const std::int64_t place = shape.transpose_b ? n * shape.k + k : k * shape.n + n;
        const auto w = static_cast<float>(static_cast<const std::int8_t*>(args.inputs[1])[place]);
        row[c] = rounded(rounded(w + offset.at(k, n)) * scale.at(k, n));
      }
      std::fill(row + width, row + kPanel, 0.0f);
    }
  }

  // Rows [row, row + count) times a panel.
  void multiply_panel(const KernelArgs& args, std::int64_t panel, std::int64_t row,
                      std::int64_t count, const float* right) const {
    const std::int64_t first = panel * kPanel, width = std::min(kPanel, shape.n - first);
    float sums[kRows * kPanel];
    gemm({count, kPanel, shape.k, shape.k, kPanel, kPanel}, x.data() + row * shape.k, right, sums);
    for (std::int64_t r = 0; r < count; ++r) {
      float* const line = sums + r * kPanel;
      for (std::int64_t c = 0; biases > 0 && c < width; ++c) line[c] += bias.data()[first + c];
      store_floats(dtype, line, width, at(args.outputs[0], dtype, (row + r) * shape.n + first));
    }
  }

  void multiply_rows(const KernelArgs& args, std::int64_t panel, const float* right) const {
    for (std::int64_t row = 0; row < shape.m; row += kRows) {
      multiply_panel(args, panel, row, std::min(kRows, shape.m - row), right);
    }
  }

  void load(const KernelArgs& args) const {
    load_floats(dtype, args.inputs[0], shape.m * shape.k, x.data());
    scale.load(dtype, args.inputs[2], 1);
    offset.load(dtype, offset.count > 0 ? args.inputs[3] : nullptr, 0);
    if (biases > 0) load_floats(bias_dtype, args.inputs[4], biases, bias.data());
    if (biases == 1) std::fill_n(bias.data(), shape.n, bias.data()[0]);
  }
};

// The whole weight is widened first, as by a framework.
Launch prepare_whole(const Problem& problem) {
  return [of = std::make_shared<const WeightProduct>(problem, false)](const KernelArgs& args) {
    of->load(args);
    const std::int64_t panels = WeightProduct::panels(of->shape);
    const auto right = [&](std::int64_t i) { return of->weight.data() + i * of->shape.k * kPanel; };
    parallel_blocks(panels, [&](std::int64_t i) { of->widen_panel(args, i, right(i)); });
    parallel_blocks(panels, [&](std::int64_t i) { of->multiply_rows(args, i, right(i)); });
  };
}

// Each thread widens the columns that it multiplies.
Launch prepare_panels(const Problem& problem) {
  return [of = std::make_shared<const WeightProduct>(problem, true)](const KernelArgs& args) {
    of->load(args);
    const std::int64_t panels = WeightProduct::panels(of->shape), threads = thread_count();
    const std::int64_t each = (panels + threads - 1) / threads;
    parallel_blocks(threads, [&](std::int64_t thread) {
      float* const right = of->weight.data() + thread * of->shape.k * kPanel;
      for (std::int64_t i = thread * each; i < std::min(panels, (thread + 1) * each); ++i) {
        of->widen_panel(args, i, right);
        of->multiply_rows(args, i, right);
      }
    });
  };
}

template <bool kByPanel>
std::size_t temporaries(const Problem& problem) {
  const MatMulShape s = weight_quant_shape(problem.inputs, problem.attrs);
  return static_cast<std::size_t>(s.m * s.k + WeightProduct::weight_elements(s, kByPanel)) *
         sizeof(float);
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "weight_quant_batch_matmul_v2",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary =
                          "(weight + offset)*scale rounded twice to the dtype of x, then the "
                          "product with fp32 sums",
                      .prepare = prepare_whole,
                      .temporary_bytes = temporaries<false>}),
    RegisteredKernel({.op = "weight_quant_batch_matmul_v2",
                      .name = "weight_quant_batch_matmul_v2",
                      .provider = Provider::npu,
                      .summary = "WeightQuantBatchMatmulV2: the same roundings, 96 columns of the "
                                 "weight at a time",
                      .prepare = prepare_panels,
                      .temporary_bytes = temporaries<true>}),
};

}  // namespace
}  // namespace opbench
