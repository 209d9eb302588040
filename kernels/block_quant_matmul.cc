// block_quant_matmul: factors in fp32, with their scales or with sums of blocks that are scaled.
#include "ops/block_quant_matmul.h"

#include <algorithm>
#include <memory>

#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kPanel = 96, kRows = 64;  // columns and rows of a tile

struct BlockProduct {
  BlockQuantMatMul of;
  DType left_dtype, right_dtype, scale_dtype, token_dtype, bias_dtype = DType::fp32, to;
  std::int64_t biases = 0, scale_count, token_count;
  bool is_by_block;  ///< the sums of blocks are scaled, else the factors
  Scratch left, right, scales, tokens, left_scales, right_scales, bias;

  static std::int64_t panels(std::int64_t n) { return (n + kPanel - 1) / kPanel; }

  BlockProduct(const Problem& problem, bool by_block)
      : of(problem.inputs, problem.attrs),
        left_dtype(problem.inputs[BlockQuantMatMul::x1].dtype),
        right_dtype(problem.inputs[BlockQuantMatMul::x2].dtype),
        scale_dtype(problem.inputs[BlockQuantMatMul::scale].dtype),
        token_dtype(problem.inputs[BlockQuantMatMul::token_scale].dtype),
        to(problem.outputs[0].dtype),
        scale_count(problem.inputs[BlockQuantMatMul::scale].elements()),
        token_count(problem.inputs[BlockQuantMatMul::token_scale].elements()),
        is_by_block(by_block),
        left(of.shape.m * of.shape.k),
        right(panels(of.shape.n) * of.shape.k * kPanel),
        scales(scale_count),
        tokens(token_count),
        left_scales(of.shape.m * of.blocks),
        right_scales(of.blocks * panels(of.shape.n) * kPanel),
        bias(of.shape.n) {
    if (!is_given(problem.inputs, BlockQuantMatMul::bias)) return;
    biases = problem.inputs[BlockQuantMatMul::bias].elements();
    bias_dtype = problem.inputs[BlockQuantMatMul::bias].dtype;
  }

  float* right_panel(std::int64_t panel) const {
    return right.data() + panel * of.shape.k * kPanel;
  }
  float* panel_scales(std::int64_t panel) const {
    return right_scales.data() + panel * of.blocks * kPanel;
  }

  void load_scales(const KernelArgs& args) const {
    load_numbers(scale_dtype, args.inputs[BlockQuantMatMul::scale], scale_count, scales.data());
    load_numbers(token_dtype, args.inputs[BlockQuantMatMul::token_scale], token_count,
                 tokens.data());
    if (biases > 0) {
      load_numbers(bias_dtype, args.inputs[BlockQuantMatMul::bias], biases, bias.data());
    }
    if (biases == 1) std::fill_n(bias.data(), of.shape.n, bias.data()[0]);
  }

  void load_row(const KernelArgs& args, std::int64_t row) const {
    const std::int64_t k = of.shape.k;
    float* const line = left.data() + row * k;
    float* const row_scales = left_scales.data() + row * of.blocks;
    load_numbers(left_dtype, at(args.inputs[BlockQuantMatMul::x1], left_dtype, row * k), k, line);
    for (std::int64_t b = 0; b < of.blocks; ++b) {
      row_scales[b] = tokens.data()[of.left_place(row, b)];
    }
    for (std::int64_t i = 0; !is_by_block && i < k; ++i) line[i] *= row_scales[i / of.terms];
  }

  // Columns of a panel as rows of kPanel numbers.
  void load_panel(const KernelArgs& args, std::int64_t panel) const {
    const MatMulShape& s = of.shape;
    const std::int64_t first = panel * kPanel, width = std::min(kPanel, s.n - first);
    float *const numbers = right_panel(panel), *const by = panel_scales(panel);
    std::fill_n(numbers, s.k * kPanel, 0.0f);
    std::fill_n(by, of.blocks * kPanel, 0.0f);
    const void* const from = args.inputs[BlockQuantMatMul::x2];
    if (s.transpose_b) {
      thread_local AlignedFloats line;
      line.resize(s.k);
      for (std::int64_t c = 0; c < width; ++c) {
        load_numbers(right_dtype, at(from, right_dtype, (first + c) * s.k), s.k, line.data());
        for (std::int64_t i = 0; i < s.k; ++i) numbers[i * kPanel + c] = line.data()[i];
      }
    } else {
      for (std::int64_t i = 0; i < s.k; ++i) {
        load_numbers(right_dtype, at(from, right_dtype, i * s.n + first), width,
                     numbers + i * kPanel);
      }
    }
    for (std::int64_t b = 0; b < of.blocks; ++b) {
      for (std::int64_t c = 0; c < width; ++c) {
        by[b * kPanel + c] = scales.data()[of.right_place(b, first + c)];
      }
    }
    for (std::int64_t i = 0; !is_by_block && i < s.k * kPanel; ++i) {
      numbers[i] *= by[i / kPanel / of.terms * kPanel + i % kPanel];
    }
  }

  void multiply(std::int64_t row, std::int64_t rows, std::int64_t panel, float* sums) const {
    const std::int64_t k = of.shape.k;
    const float *const a = left.data() + row * k, *const b = right_panel(panel);
    if (!is_by_block) return gemm({rows, kPanel, k, k, kPanel, kPanel}, a, b, sums);
    std::fill_n(sums, rows * kPanel, 0.0f);
    float part[kRows * kPanel];
    for (std::int64_t block = 0; block < of.blocks; ++block) {
      const std::int64_t begin = block * of.terms, terms = std::min(of.terms, k - begin);
      gemm({rows, kPanel, terms, k, kPanel, kPanel}, a + begin, b + begin * kPanel, part);
      const float* const by = panel_scales(panel) + block * kPanel;
      for (std::int64_t r = 0; r < rows; ++r) {
        const float token = left_scales.data()[(row + r) * of.blocks + block];
        float *const line = sums + r * kPanel, *const more = part + r * kPanel;
        for (std::int64_t c = 0; c < kPanel; ++c) line[c] += more[c] * (token * by[c]);
      }
    }
  }

  void tile(const KernelArgs& args, std::int64_t row, std::int64_t panel) const {
    const std::int64_t first = panel * kPanel, width = std::min(kPanel, of.shape.n - first);
    const std::int64_t rows = std::min(kRows, of.shape.m - row);
    float sums[kRows * kPanel];
    multiply(row, rows, panel, sums);
    for (std::int64_t r = 0; r < rows; ++r) {
      float* const line = sums + r * kPanel;
      for (std::int64_t c = 0; biases > 0 && c < width; ++c) line[c] += bias.data()[first + c];
      store_floats(to, line, width, at(args.outputs[0], to, (row + r) * of.shape.n + first));
    }
  }

  void run(const KernelArgs& args) const {
    load_scales(args);
    parallel_blocks(of.shape.m, [&](std::int64_t row) { load_row(args, row); });
    const std::int64_t across = panels(of.shape.n), down = (of.shape.m + kRows - 1) / kRows;
    parallel_blocks(across, [&](std::int64_t panel) { load_panel(args, panel); });
    parallel_blocks(across * down, [&](std::int64_t i) { tile(args, i % down * kRows, i / down); });
  }
};

template <bool kByBlock>
Launch prepare(const Problem& problem) {
  return [of = std::make_shared<const BlockProduct>(problem, kByBlock)](const KernelArgs& args) {
    of->run(args);
  };
}

std::size_t temporary_bytes(const Problem& problem) {
  const BlockQuantMatMul of(problem.inputs, problem.attrs);
  const std::int64_t n = BlockProduct::panels(of.shape.n) * kPanel;
  return static_cast<std::size_t>((of.shape.m + n) * (of.shape.k + of.blocks)) * sizeof(float);
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "block_quant_matmul",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "both factors times their scales in fp32, then their product",
                      .prepare = prepare<false>,
                      .temporary_bytes = temporary_bytes}),
    RegisteredKernel({.op = "block_quant_matmul",
                      .name = "block_quant_matmul",
                      .provider = Provider::npu,
                      .summary = "QuantBatchMatmulV4: sums of blocks in fp32, times both scales",
                      .prepare = prepare<true>,
                      .temporary_bytes = temporary_bytes}),
};

}  // namespace
}  // namespace opbench
