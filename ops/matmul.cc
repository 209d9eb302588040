#include "ops/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Matrices [rows, columns] of a batch, each transposed.
std::vector<double> transposed(const std::vector<double>& x, std::int64_t batch, std::int64_t rows,
                               std::int64_t columns) {
  std::vector<double> result(x.size());
  for (std::int64_t i = 0; i < batch; ++i) {
    const double* from = x.data() + i * rows * columns;
    double* to = result.data() + i * rows * columns;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
    }
  }
  return result;
}

MatMulShape shape_of(const TensorDesc& a, const TensorDesc& b, const Attrs& attrs) {
  return matmul_shape("matmul", a, b, attrs.flag("transpose_a"), attrs.flag("transpose_b"));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const MatMulShape s = shape_of(inputs[0], inputs[1], attrs);
  Dims shape = inputs[0].shape;
  shape[shape.size() - 2] = s.m;
  shape.back() = s.n;
  return {with_shape(inputs[0], shape)};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return matmul_reference(inputs[0], inputs[1], nullptr,
                          shape_of(inputs[0].desc(), inputs[1].desc(), attrs));
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = matmul_shape(problem).operations();
  return traffic;
}

GradientCall product(GradientArg a, GradientArg b, bool transpose_a, bool transpose_b,
                     std::size_t of_input) {
  const std::pair<std::string_view, AttrValue> values[] = {{"transpose_a", transpose_a},
                                                           {"transpose_b", transpose_b}};
  return {"matmul", {a, b}, {of_input}, attrs_with("matmul", values)};
}

// With c = a b: da = dc b^T and db = a^T dc; for a transposed factor the product is transposed.
std::vector<GradientCall> gradient(const Problem& forward) {
  const bool ta = forward.attrs.flag("transpose_a"), tb = forward.attrs.flag("transpose_b");
  const GradientArg dc{GradientArg::output_gradient, 0}, a{GradientArg::input, 0},
      b{GradientArg::input, 1};
  return {ta ? product(b, dc, tb, true, 0) : product(dc, b, false, !tb, 0),
          tb ? product(dc, a, true, ta, 1) : product(a, dc, !ta, false, 1)};
}

// [.., m, k] and a second factor with up to 64 columns.
std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  if (shape.size() < 2) return {shape, shape};
  Dims second = shape;
  const std::int64_t k = attrs.flag("transpose_a") ? shape[shape.size() - 2] : shape.back();
  const std::int64_t n = std::min<std::int64_t>(k, 64);
  second[shape.size() - 2] = attrs.flag("transpose_b") ? n : k;
  second.back() = attrs.flag("transpose_b") ? k : n;
  return {shape, second};
}

const RegisteredOp registered{{
    .name = "matmul",
    .ir_name = "matmul",
    .summary = "c = op(a) * op(b) over the last two axes; op transposes if requested",
    .source = "torch.matmul without broadcasting; CANN MatMulV2, BatchMatMul",
    .known_as =
        {.calls = {{"matmul, mm, bmm, MatMul, MatMulV2, MatMulV3, BatchMatMul, BatchMatMulV2, "
                    "BatchMatMulV3",
                    "self|x1|A, mat2|other|x2|B",
                    "result|out|y|Y",
                    {.attrs = "transpose_a: transpose_x1|adj_x1, transpose_b: transpose_x2|adj_x2",
                     .turn = 1}},
                   {.names = "MmBackward, BmmBackward",
                    .rules = {.parts = {{"matmul", "grads/grads_0, mat2",
                                         "grad_inputs/grad_inputs_0", "transpose_b: =true"},
                                        {"matmul", "self, grads/grads_0",
                                         "grad_inputs/grad_inputs_1", "transpose_a: =true"}}}}},
         .profiled = {{"BatchMatMul, BatchMatMulV2, BatchMatMulV3", "x1, x2, bias", "y"}},
         .torch = "torch.matmul({0}.transpose(-1, -2) if {transpose_a} else {0}, {1}.transpose(-1, "
                  "-2) if {transpose_b} else {1})",
         .likely = likely_of_matmul},
    .inputs = {{"self", "self", {}, unit_data},
               {"mat2",
                "mat2",
                {},
                [](const Problem& problem) { return weight_data(matmul_shape(problem).k); }}},
    .outputs = {{"result"}},
    .attrs = {{"transpose_a", false, "the first factor is stored with its last two axes exchanged"},
              {"transpose_b", false,
               "the second factor is stored with its last two axes exchanged"}},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::ND, Format::NCDHW, Format::FRACTAL_NZ},
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::sums,
    .context = {.uses_cube = true, .input_format = cube_matrices},
}};

}  // namespace

MatMulShape matmul_shape(std::string_view op, const TensorDesc& a, const TensorDesc& b,
                         bool transpose_a, bool transpose_b) {
  const std::size_t rank = a.shape.size();
  if (rank < 2 || b.shape.size() != rank) {
    throw Error(
        fmt::format("{}: the factors have shapes {} and {}; allowed: two or more axes, as "
                    "many in both",
                    op, to_string(a.shape), to_string(b.shape)));
  }
  if (!std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin())) {
    throw Error(
        fmt::format("{}: the factors have shapes {} and {}; the axes before the last two "
                    "must be alike, nothing is broadcast",
                    op, to_string(a.shape), to_string(b.shape)));
  }
  MatMulShape s{1,           a.shape[rank - 2], b.shape[rank - 1], a.shape[rank - 1],
                transpose_a, transpose_b};
  std::int64_t other_k = b.shape[rank - 2];
  if (transpose_a) std::swap(s.m, s.k);
  if (transpose_b) std::swap(s.n, other_k);
  if (s.k != other_k) {
    throw Error(
        fmt::format("{}: {}{} times {}{} needs as many columns in the first factor as rows "
                    "in the second, found {} and {}",
                    op, to_string(a.shape), transpose_a ? " transposed" : "", to_string(b.shape),
                    transpose_b ? " transposed" : "", s.k, other_k));
  }
  for (std::size_t i = 0; i + 2 < rank; ++i) s.batch *= a.shape[i];
  return s;
}

MatMulShape matmul_shape(const Problem& problem) {
  const auto& [op, inputs, outputs, attrs] = problem;
  if (op->name == "linear") return matmul_shape("linear", inputs[0], inputs[1], false, true);
  return shape_of(inputs[0], inputs[1], attrs);
}

Reference matmul_reference(const InputReader& a, const InputReader& b, const InputReader* bias,
                           const MatMulShape& shape) {
  std::vector<double> left = a.read_all(), right = b.read_all();
  if (shape.transpose_a) left = transposed(left, shape.batch, shape.k, shape.m);
  if (shape.transpose_b) right = transposed(right, shape.batch, shape.n, shape.k);
  return [left = std::move(left), right = std::move(right),
          bias = bias == nullptr ? std::vector<double>() : bias->read_all(),
          shape](std::size_t, ElementRange range, std::span<double> to) {
    const auto [batch, m, n, k, ta, tb] = shape;
    for (std::int64_t i = 0; i < range.count;) {
      const std::int64_t row = (range.first + i) / n, column = (range.first + i) % n;
      const std::int64_t count = std::min(n - column, range.count - i);
      double* sums = to.data() + i;
      std::fill_n(sums, count, 0.0);
      const double* from = right.data() + row / m * k * n + column;
      for (std::int64_t p = 0; p < k; ++p) {
        const double factor = left[static_cast<std::size_t>(row * k + p)];
        for (std::int64_t c = 0; c < count; ++c) sums[c] += factor * from[p * n + c];
      }
      for (std::int64_t c = 0; c < count && !bias.empty(); ++c) {
        sums[c] += bias[static_cast<std::size_t>(column + c)];
      }
      i += count;
    }
  };
}

Distribution weight_data(std::int64_t terms) {
  return {DistributionKind::normal, 0,
          double(float(1 / std::sqrt(double(std::max<std::int64_t>(terms, 1)))))};
}

Distribution unit_data(const Problem&) { return {DistributionKind::normal, 0, 1}; }

}  // namespace opbench
