// The gradients of recurrent layers: the steps again, then backwards, then a product for each
// weight.
#include <algorithm>
#include <memory>

#include "kernels/recurrent.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kUnits = 64;

struct BackwardPass : RecurrentPass {
  Scratch dy, dh, dc, through, w_ih_rows, w_hh_rows, turned, of_input;

  explicit BackwardPass(const Problem& problem)
      : RecurrentPass(problem, load_floats, problem.inputs[0].dtype),
        dy(of.rows() * units),
        dh(of.batch * units),
        dc(of.batch * units),
        through(of.batch * units),
        w_ih_rows(width * features),
        w_hh_rows(width * units),
        turned(width * of.rows()),
        of_input(std::max(of.rows(), width) * std::max(features, units)) {}

  static std::int64_t all_elements(const Recurrence& of) {
    const std::int64_t units = padded(of.hidden), features = padded(of.features);
    const std::int64_t width = of.gates() * units;
    return elements(of) + of.rows() * (units + width) + 3 * of.batch * units +
           width * (features + units) + std::max(of.rows(), width) * std::max(features, units);
  }

  // Rows of gates as they are stored, padded to whole blocks.
  void load_weight(const void* weight, std::int64_t terms, float* to) const {
    const std::int64_t pitch = padded(terms);
    std::fill_n(to, width * pitch, 0.0f);
    parallel_blocks(of.gates() * of.hidden, [&](std::int64_t i) {
      const std::int64_t q = i / of.hidden, unit = i % of.hidden;
      const std::int64_t row = of.places[static_cast<std::size_t>(q)] * of.hidden + unit;
      load_floats(dtype, at(weight, dtype, row * terms), terms, to + (q * units + unit) * pitch);
    });
  }

  void load_gradients(const KernelArgs& args) const {
    std::size_t place = 0;
    if (!of.is_cell) load_rows(args.inputs[place++], of.hidden, load_floats, dy.data());
    load_state(args.inputs[place++], load_floats, dh.data());
    load_state(of.kind == RecurrentKind::lstm ? args.inputs[place] : nullptr, load_floats,
               dc.data());
    if (of.is_fused) return;
    load_weight(input(args, of.w_ih), of.features, w_ih_rows.data());
    load_weight(input(args, of.w_hh), of.hidden, w_hh_rows.data());
  }

  // The gradients of the sums of h, which are those of the sums of x in an LSTM.
  float* of_h_sums() const { return of.kind == RecurrentKind::lstm ? gates.data() : h_sums.data(); }

  void row_back(std::int64_t row, std::int64_t b) const {
    float* const of_h = dh.data() + b * units;
    if (!is_live(row / of.batch, b)) {
      std::fill_n(gates.data() + row * width, width, 0.0f);
      std::fill_n(h_sums.data() + row * width, width, 0.0f);
      return;
    }
    if (!of.is_cell) add_rounded(rounding, units, of_h, dy.data() + row * units, of_h);
    recurrent_row_back({.kind = of.kind,
                        .rounding = rounding,
                        .units = units,
                        .pitch = units,
                        .gates = gates.data() + row * width,
                        .h_sums = h_sums.data() + row * width,
                        .h = h.data() + row * units,
                        .c = c.data() + row * units,
                        .tanh_c = tanh_c.data() + row * units,
                        .dh = of_h,
                        .dc = dc.data() + b * units});
  }

  void step_back(std::int64_t s) const {
    const std::int64_t first = s * of.batch;
    parallel_blocks(of.batch, [&](std::int64_t b) { row_back(first + b, b); });
    if (of.is_fused) return;
    parallel_blocks((units + kUnits - 1) / kUnits, [&](std::int64_t block) {
      const std::int64_t unit = block * kUnits, count = std::min(kUnits, units - unit);
      gemm({of.batch, count, width, width, units, units}, of_h_sums() + first * width,
           w_hh_rows.data() + unit, through.data() + unit);
      for (std::int64_t b = 0; b < of.batch; ++b) {
        const std::int64_t at_b = b * units + unit;
        add_rounded(rounding, count, dh.data() + at_b, through.data() + at_b, dh.data() + at_b);
      }
    });
  }

  // The sums over all rows of gradients of gates times rows of an operand.
  void store_weight(const float* of_gates, const float* operand, std::int64_t terms,
                    void* to) const {
    const std::int64_t pitch = padded(terms), rows = of.rows();
    parallel_blocks((rows + kCube - 1) / kCube, [&](std::int64_t i) {
      const std::int64_t row = i * kCube;
      transpose_rows(of_gates + row * width, std::min(kCube, rows - row), width, width, rows,
                     turned.data() + row);
    });
    multiply_tiles({width, pitch, rows, rows, pitch, pitch}, turned.data(), operand,
                   of_input.data());
    for (std::int64_t i = 0; i < of.gates() * of.hidden; ++i) {
      const std::int64_t q = i / of.hidden, unit = i % of.hidden;
      const std::int64_t row = of.places[static_cast<std::size_t>(q)] * of.hidden + unit;
      store_floats(dtype, of_input.data() + (q * units + unit) * pitch, terms,
                   at(to, dtype, row * terms));
    }
  }

  void store_bias(const float* of_gates, void* to) const {
    float* const sums = of_input.data();
    std::fill_n(sums, width, 0.0f);
    for (std::int64_t i = 0; i < of.rows(); ++i) {
      add_rounded(DType::fp32, width, sums, of_gates + i * width, sums);
    }
    for (std::int64_t q = 0; q < of.gates(); ++q) {
      const std::int64_t place = of.places[static_cast<std::size_t>(q)] * of.hidden;
      store_floats(dtype, sums + q * units, of.hidden, at(to, dtype, place));
    }
  }

  void store_products(const KernelArgs& args) const {
    if (of.is_fused) {
      store_gates(gates.data(), args.outputs[of.x]);
      return store_gates(of_h_sums(), args.outputs[of.h_sums]);
    }
    multiply_tiles({of.rows(), features, width, width, features, features}, gates.data(),
                   w_ih_rows.data(), of_input.data());
    store_rows(of_input.data(), of.features, false, args.outputs[of.x]);
    store_weight(gates.data(), x.data(), of.features, args.outputs[of.w_ih]);
    store_weight(of_h_sums(), h.data(), of.hidden, args.outputs[of.w_hh]);
  }

  void store_gradients(const KernelArgs& args) const {
    store_products(args);
    if (of.b_ih != Recurrence::kNone) store_bias(gates.data(), args.outputs[of.b_ih]);
    if (of.b_hh != Recurrence::kNone) store_bias(of_h_sums(), args.outputs[of.b_hh]);
    if (of.h0 != Recurrence::kNone) store_state(dh.data(), args.outputs[of.h0]);
    if (of.c0 != Recurrence::kNone) store_state(dc.data(), args.outputs[of.c0]);
  }
};

Launch prepare(const Problem& problem) {
  return [pass = std::make_shared<BackwardPass>(problem)](const KernelArgs& args) {
    pass->run(args);
    pass->load_gradients(args);
    for (std::int64_t s = pass->of.batch > 0 ? pass->of.steps : 0; s-- > 0;) pass->step_back(s);
    pass->store_gradients(args);
  };
}

std::size_t temporary_bytes(const Problem& problem) {
  return static_cast<std::size_t>(BackwardPass::all_elements(Recurrence(problem))) * sizeof(float);
}

Kernel native(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = "the steps again, then backwards; a product over all steps for each weight",
          .prepare = prepare,
          .temporary_bytes = temporary_bytes};
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(native("lstm_grad")),       RegisteredKernel(native("lstm_cell_grad")),
    RegisteredKernel(native("gru_grad")),        RegisteredKernel(native("gru_cell_grad")),
    RegisteredKernel(native("lstm_gates_grad")), RegisteredKernel(native("gru_gates_grad"))};

}  // namespace
}  // namespace opbench
