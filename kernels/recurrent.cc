// Recurrent layers: the sums of x of all steps in one product, then the steps. Each step is a
// product with the states and the gates, for blocks of units on all threads.
#include "kernels/recurrent.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/index_at.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTileRows = 64, kTileColumns = 96, kUnits = 64;

}  // namespace

void multiply_tiles(const Gemm& shape, const float* a, const float* b, float* c) {
  const std::int64_t down = (shape.m + kTileRows - 1) / kTileRows;
  const std::int64_t across = (shape.n + kTileColumns - 1) / kTileColumns;
  parallel_blocks(down * across, [&](std::int64_t i) {
    const std::int64_t row = i / across * kTileRows, column = i % across * kTileColumns;
    Gemm tile = shape;
    tile.m = std::min(kTileRows, shape.m - row);
    tile.n = std::min(kTileColumns, shape.n - column);
    float* const to = c + row * shape.ldc + column;
    if (shape.k > 0) return gemm(tile, a + row * shape.lda, b + column, to);
    for (std::int64_t r = 0; r < tile.m; ++r) std::fill_n(to + r * shape.ldc, tile.n, 0.0f);
  });
}

RecurrentPass::RecurrentPass(const Problem& problem, LoadFactor load_factor,
                             DType rounding_of_steps)
    : of(problem),
      dtype(problem.inputs[0].dtype),
      load(load_factor),
      of_w_ih(describe(dtype, {of.gates() * of.hidden, of.features}), load_factor),
      of_w_hh(describe(dtype, {of.gates() * of.hidden, of.hidden}), load_factor),
      rounding(rounding_of_steps),
      first_input(is_recurrent_gradient(problem.op->name) ? of.results() : 0),
      units(padded(of.hidden)),
      features(padded(of.features)),
      width(of.gates() * units),
      lengths(static_cast<std::size_t>(of.batch), of.steps),
      x(of.rows() * features),
      w_ih(of.features * width),
      w_hh(of.hidden * width),
      biases(2 * width),
      gates(of.rows() * width),
      h_sums(of.rows() * width),
      h((of.rows() + of.batch) * units),
      c((of.rows() + of.batch) * units),
      tanh_c(of.rows() * units),
      narrowed_h(2 * of.batch * units) {
  if (of.lengths != Recurrence::kNone) {
    lengths_dtype = problem.inputs[first_input + of.lengths].dtype;
  }
}

std::int64_t RecurrentPass::elements(const Recurrence& of) {
  const std::int64_t units = padded(of.hidden), width = of.gates() * units;
  return of.rows() * (padded(of.features) + 2 * width + 3 * units) + 4 * of.batch * units +
         (of.features + of.hidden + 2) * width;
}

void RecurrentPass::load_rows(const void* from, std::int64_t columns, LoadFactor load_factor,
                              float* to) const {
  const std::int64_t pitch = padded(columns);
  parallel_ranges(of.rows(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      load_factor(dtype, at(from, dtype, outside(i) * columns), columns, to + i * pitch);
      std::fill(to + i * pitch + columns, to + (i + 1) * pitch, 0.0f);
    }
  });
}

void RecurrentPass::load_state(const void* from, LoadFactor load_factor, float* to) const {
  std::fill_n(to, of.batch * units, 0.0f);
  for (std::int64_t b = 0; from != nullptr && b < of.batch; ++b) {
    load_factor(dtype, at(from, dtype, b * of.hidden), of.hidden, to + b * units);
  }
}

void RecurrentPass::store_state(const float* from, void* to) const {
  for (std::int64_t b = 0; b < of.batch; ++b) {
    store_floats(dtype, from + b * units, of.hidden, at(to, dtype, b * of.hidden));
  }
}

void RecurrentPass::store_rows(const float* from, std::int64_t columns, bool ends, void* to) const {
  const std::int64_t pitch = padded(columns);
  parallel_ranges(of.rows(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      void* const row = at(to, dtype, outside(i) * columns);
      if (ends && !is_live(i / of.batch, i % of.batch)) {
        std::memset(row, 0, static_cast<std::size_t>(columns) * size_of(dtype));
      } else {
        store_floats(dtype, from + i * pitch, columns, row);
      }
    }
  });
}

// Rows of a weight become columns; those of each gate are padded.
void RecurrentPass::pack(const Matrices& matrix, const void* weight, float* to) const {
  if (units != of.hidden) std::fill_n(to, matrix.columns * width, 0.0f);
  const std::int64_t blocks = units / kCube;
  parallel_blocks(of.gates() * blocks, [&](std::int64_t i) {
    const std::int64_t q = i / blocks, unit = i % blocks * kCube;
    const std::int64_t row = of.places[static_cast<std::size_t>(q)] * of.hidden + unit;
    const std::int64_t count = std::min(kCube, of.hidden - unit);
    matrix.load(weight, 0, row, count,
                [&](std::int64_t term, std::int64_t loaded, const float* rows, std::int64_t apart) {
                  transpose_rows(rows, count, loaded, apart, width,
                                 to + term * width + q * units + unit);
                });
  });
}

void RecurrentPass::load_bias(const void* bias, float* to) const {
  std::fill_n(to, width, 0.0f);
  for (std::int64_t q = 0; bias != nullptr && q < of.gates(); ++q) {
    const std::int64_t place = of.places[static_cast<std::size_t>(q)] * of.hidden;
    load_floats(dtype, at(bias, dtype, place), of.hidden, to + q * units);
  }
}

void RecurrentPass::load_inputs(const KernelArgs& args) {
  for (std::int64_t b = 0; of.lengths != Recurrence::kNone && b < of.batch; ++b) {
    lengths[static_cast<std::size_t>(b)] = index_at(lengths_dtype, input(args, of.lengths), b);
  }
  load_bias(input(args, of.b_ih), biases.data());
  load_bias(input(args, of.b_hh), biases.data() + width);
  load_state(input(args, of.h0), load_floats, h.data());
  load_state(input(args, of.h0), load, narrowed_h.data());
  load_state(input(args, of.c0), load_floats, c.data());
  if (of.is_fused) {
    load_gates(input(args, of.x), gates.data());
    return load_gates(input(args, of.h_sums), h_sums.data());
  }
  load_rows(input(args, of.x), of.features, load, x.data());
  pack(of_w_ih, input(args, of.w_ih), w_ih.data());
  pack(of_w_hh, input(args, of.w_hh), w_hh.data());
}

// Products of a fused cell, padded gate by gate.
void RecurrentPass::load_gates(const void* from, float* to) const {
  std::fill_n(to, of.batch * width, 0.0f);
  for (std::int64_t i = 0; i < of.batch * of.gates(); ++i) {
    load_floats(dtype, at(from, dtype, i * of.hidden), of.hidden, to + i * units);
  }
}

void RecurrentPass::store_gates(const float* from, void* to) const {
  for (std::int64_t i = 0; i < of.batch * of.gates(); ++i) {
    store_floats(dtype, from + i * units, of.hidden, at(to, dtype, i * of.hidden));
  }
}

void RecurrentPass::sum_inputs() const {
  if (!of.is_fused) {
    multiply_tiles({of.rows(), width, of.features, features, width, width}, x.data(), w_ih.data(),
                   gates.data());
  }
  parallel_ranges(of.rows(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* const row = gates.data() + i * width;
      add_rounded(rounding, width, row, biases.data(), row);
    }
  });
}

void RecurrentPass::step_row(std::int64_t row, std::int64_t first, std::int64_t count) const {
  const std::int64_t before = row * units + first, after = before + of.batch * units;
  if (!is_live(row / of.batch, row % of.batch)) {
    std::copy_n(h.data() + before, count, h.data() + after);
    std::copy_n(c.data() + before, count, c.data() + after);
    std::copy_n(narrowed(row) + first, count, narrowed(row + of.batch) + first);
    return;
  }
  float* const sums = h_sums.data() + row * width + first;
  for (std::int64_t q = 0; q < of.gates(); ++q) {
    const std::int64_t gate = q * units;
    add_rounded(rounding, count, sums + gate, biases.data() + width + gate + first, sums + gate);
  }
  recurrent_row({.kind = of.kind,
                 .rounding = rounding,
                 .units = count,
                 .pitch = units,
                 .forget_bias = static_cast<float>(of.forget_bias),
                 .gates = gates.data() + row * width + first,
                 .h_sums = sums,
                 .h = h.data() + before,
                 .c = c.data() + before,
                 .next_h = h.data() + after,
                 .next_c = c.data() + after,
                 .tanh_c = tanh_c.data() + before,
                 .narrowed_h = narrows() ? narrowed(row + of.batch) + first : nullptr});
}

void RecurrentPass::step(std::int64_t s) const {
  const std::int64_t row = s * of.batch;
  const float* const states = narrows() ? narrowed(row) : h.data() + row * units;
  parallel_blocks((units + kUnits - 1) / kUnits, [&](std::int64_t block) {
    const std::int64_t first = block * kUnits, count = std::min(kUnits, units - first);
    for (std::int64_t q = 0; !of.is_fused && q < of.gates(); ++q) {
      const std::int64_t column = q * units + first;
      gemm({of.batch, count, of.hidden, units, width, width}, states, w_hh.data() + column,
           h_sums.data() + row * width + column);
    }
    for (std::int64_t b = 0; b < of.batch; ++b) step_row(row + b, first, count);
  });
}

void RecurrentPass::run(const KernelArgs& args) {
  load_inputs(args);
  sum_inputs();
  for (std::int64_t s = 0; of.batch > 0 && s < of.steps; ++s) step(s);
}

void RecurrentPass::store_results(const KernelArgs& args) const {
  std::size_t output = 0;
  if (!of.is_cell) store_rows(h.data() + of.batch * units, of.hidden, true, args.outputs[output++]);
  store_state(h.data() + of.rows() * units, args.outputs[output++]);
  if (of.kind == RecurrentKind::lstm) {
    store_state(c.data() + of.rows() * units, args.outputs[output]);
  }
}

namespace {

Launch launch_of(std::shared_ptr<RecurrentPass> pass) {
  return [pass = std::move(pass)](const KernelArgs& args) {
    pass->run(args);
    pass->store_results(args);
  };
}

Launch prepare_native(const Problem& problem) {
  return launch_of(std::make_shared<RecurrentPass>(problem, load_floats, problem.inputs[0].dtype));
}

Launch prepare_npu(const Problem& problem) {
  return launch_of(std::make_shared<RecurrentPass>(problem, load_operands, DType::fp32));
}

std::size_t temporary_bytes(const Problem& problem) {
  return static_cast<std::size_t>(RecurrentPass::elements(Recurrence(problem))) * sizeof(float);
}

Kernel native(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = "products with packed weights, then the gates; each operator is rounded",
          .prepare = prepare_native,
          .temporary_bytes = temporary_bytes};
}

Kernel npu(std::string_view op, std::string_view name, std::string_view device,
           std::string_view summary) {
  return {.op = op,
          .name = name,
          .provider = Provider::npu,
          .summary = summary,
          .refusal = cube_refusal,
          .prepare = prepare_npu,
          .judged_as = DType::fp16,
          .temporary_bytes = temporary_bytes,
          .device_name = device};
}

constexpr std::string_view kDynamicRnn =
    "DynamicRNN: fp16 operands, also of h; gates and states in fp32";
constexpr std::string_view kDynamicGru =
    "DynamicGRUV2: fp16 operands, also of h; gates and states in fp32";

const RegisteredKernel kKernels[] = {
    RegisteredKernel(native("lstm")),
    RegisteredKernel(native("lstm_cell")),
    RegisteredKernel(native("lstm_gates")),
    RegisteredKernel(native("gru")),
    RegisteredKernel(native("gru_cell")),
    RegisteredKernel(native("gru_gates")),
    RegisteredKernel(npu("lstm", "dynamic_rnn", "DynamicRNN", kDynamicRnn)),
    RegisteredKernel(npu("lstm_cell", "dynamic_rnn", "DynamicRNN", kDynamicRnn)),
    RegisteredKernel(npu("gru", "dynamic_gru_v2", "DynamicGRUV2", kDynamicGru)),
    RegisteredKernel(npu("gru_cell", "dynamic_gru_v2", "DynamicGRUV2", kDynamicGru)),
};

}  // namespace
}  // namespace opbench
