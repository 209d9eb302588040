#pragma once

#include <cstdint>
#include <vector>

#include "kernels/packed_matmul.h"
#include "kernels/simd/gemm.h"
#include "kernels/simd/scratch.h"
#include "ops/recurrent.h"

namespace opbench {

/// A row of one step: `units` elements of each gate, `pitch` apart, and of the states. All are
/// padded to whole vectors.
struct RecurrentRow {
  RecurrentKind kind;
  DType rounding;  ///< of each small operator
  std::int64_t units, pitch;
  float forget_bias;
  float* gates;         ///< the sums of x and its bias, then the gates
  const float* h_sums;  ///< the sums of h and its bias
  const float *h, *c;   ///< before the step
  float *next_h, *next_c, *tanh_c;
  float* narrowed_h;  ///< of next_h, for the cube unit; may be null
};

/// A row backwards. The gates become the gradients of the sums of x; h_sums become those of
/// the sums of h unless both are equal. dh and dc become the parts of the gradients of h and c that
/// do not pass the gates.
struct RecurrentRowBack {
  RecurrentKind kind;
  DType rounding;
  std::int64_t units, pitch;
  float *gates, *h_sums;
  const float *h, *c, *tanh_c;
  float *dh, *dc;
};

void recurrent_row(const RecurrentRow& row);
void recurrent_row_back(const RecurrentRowBack& row);

/// to[i] = the sum of both, rounded to `dtype`.
void add_rounded(DType dtype, std::int64_t count, const float* a, const float* b, float* to);

/// A layer in fp32. A row of gates has the units of each gate, padded to a multiple of 16. Rows are
/// in the order of steps; states have one more step, the first.
struct RecurrentPass {
  Recurrence of;
  DType dtype, lengths_dtype = DType::int64;
  LoadFactor load;
  Matrices of_w_ih, of_w_hh;
  DType rounding;
  std::size_t first_input;
  std::int64_t units, features, width;  ///< padded
  std::vector<std::int64_t> lengths;
  Scratch x, w_ih, w_hh, biases, gates, h_sums, h, c, tanh_c;
  Scratch narrowed_h;  ///< of two steps, for the cube unit

  RecurrentPass(const Problem& problem, LoadFactor load_factor, DType rounding_of_steps);

  static std::int64_t padded(std::int64_t count) { return round_up_to_cube(count); }
  /// The elements of all temporaries.
  static std::int64_t elements(const Recurrence& of);

  /// The gates and states of all steps.
  void run(const KernelArgs& args);
  void store_results(const KernelArgs& args) const;

  const void* input(const KernelArgs& args, std::size_t place) const {
    return place == Recurrence::kNone ? nullptr : args.inputs[first_input + place];
  }
  bool is_live(std::int64_t s, std::int64_t b) const {
    return s < lengths[static_cast<std::size_t>(b)];
  }
  /// The row of x and y for row `i` of steps.
  std::int64_t outside(std::int64_t i) const {
    return of.row(i / of.batch, i % of.batch, lengths[static_cast<std::size_t>(i % of.batch)]);
  }
  /// Rows of x or of a gradient of y, padded, in the order of steps.
  void load_rows(const void* from, std::int64_t columns, LoadFactor load_factor, float* to) const;
  /// States [batch, hidden], padded; null: zeros.
  void load_state(const void* from, LoadFactor load_factor, float* to) const;
  void store_state(const float* from, void* to) const;
  void store_gates(const float* from, void* to) const;
  /// Stores rows of steps as rows of x or y; those after the end are 0 with `ends`.
  void store_rows(const float* from, std::int64_t columns, bool ends, void* to) const;

 private:
  bool narrows() const { return load == load_operands; }
  float* narrowed(std::int64_t row) const {
    return narrowed_h.data() + row % (2 * of.batch) * units;
  }
  void load_inputs(const KernelArgs& args);
  void load_gates(const void* from, float* to) const;
  void pack(const Matrices& matrix, const void* weight, float* to) const;
  void load_bias(const void* bias, float* to) const;
  void sum_inputs() const;
  void step(std::int64_t s) const;
  void step_row(std::int64_t row, std::int64_t first, std::int64_t count) const;
};

/// c = a*b in tiles on all threads; zeros if there are no terms.
void multiply_tiles(const Gemm& shape, const float* a, const float* b, float* c);

}  // namespace opbench
