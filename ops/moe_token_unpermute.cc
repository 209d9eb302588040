// The outputs of experts put back in the order of tokens and added, and the gradient.
#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"
#include "ops/experts.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "moe_token_unpermute", kGradName = "moe_token_unpermute_grad";

// Copies of a token.
std::int64_t copies_of_token(std::string_view op, const TensorDesc& places,
                             const TensorDesc* probs) {
  if (probs == nullptr) return 1;
  require_rank(op, "probs", *probs, 2, "[tokens, experts of a token]");
  if (probs->elements() != places.elements()) {
    throw Error(
        fmt::format("{}: 'probs' has shape {}; allowed: a number for each of the {} "
                    "elements of 'sorted_indices'",
                    op, to_string(probs->shape), places.elements()));
  }
  return std::max<std::int64_t>(1, probs->shape[1]);
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  require_rank(kName, "permuted_tokens", inputs[0], 2, "[rows, columns]");
  require_rank(kName, "sorted_indices", inputs[1], 1, "one axis");
  const std::int64_t k =
      copies_of_token(kName, inputs[1], is_given(inputs, 2) ? &inputs[2] : nullptr);
  return {describe(inputs[0].dtype, {inputs[1].elements() / k, inputs[0].shape[1]})};
}

/// The rows of copies, and the factor of each.
struct Copies {
  std::size_t columns, k;
  std::int64_t rows;
  std::vector<std::int64_t> places;
  std::vector<double> probs;

  Copies(const InputReader& permuted, const InputReader& indices, const InputReader* of_probs)
      : columns(static_cast<std::size_t>(permuted.desc().shape[1])),
        k(of_probs == nullptr ? 1 : static_cast<std::size_t>(of_probs->desc().shape[1])),
        rows(permuted.desc().shape[0]),
        places(indices.read_index()) {
    if (of_probs != nullptr) probs = of_probs->read_all();
    if (of_probs == nullptr) probs.assign(places.size(), 1);
  }

  // Calls body(copy, row) for all copies that were not dropped.
  template <class Body>
  void for_each(Body body) const {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0 && places[i] < rows) body(i, static_cast<std::size_t>(places[i]));
    }
  }
};

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  const Copies of(inputs[0], inputs[1], is_given(inputs, 2) ? &inputs[2] : nullptr);
  const std::vector<double> x = inputs[0].read_all();
  std::vector<double> y(of.places.size() / std::max<std::size_t>(1, of.k) * of.columns);
  of.for_each([&](std::size_t i, std::size_t row) {
    const double* const from = x.data() + row * of.columns;
    double* const to = y.data() + i / of.k * of.columns;
    for (std::size_t c = 0; c < of.columns; ++c) to[c] += of.probs[i] * from[c];
  });
  return elements_of({std::move(y)});
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{
      kGradName,
      {{GradientArg::input, 0}, {GradientArg::output_gradient, 0}, {GradientArg::input, 1}},
      {0}};
  if (is_given(forward.inputs, 2)) {
    call.args.push_back({GradientArg::input, 2});
    call.of_inputs.push_back(2);
  }
  return {call};
}

// kPlaces: the input with the places of copies. A product and a sum for each output of a copy.
template <std::size_t kPlaces>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double copies = double(problem.inputs[kPlaces].elements());
  traffic.operations = 2 * double(kPlaces) * copies * double(problem.inputs[0].shape[1]);
  return traffic;
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  const std::int64_t rows = shape.empty() ? 1 : shape[0], k = rows % 2 == 0 ? 2 : 1;
  return {shape, {rows}, {rows / k, k}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "_npu_moe_token_unpermute",
    .summary =
        "y[t] = the sum of probs[t][j]*x[sorted_indices[t*k + j]] over j; indices outside of "
        "x give 0",
    .source = "torch_npu npu_moe_token_unpermute; CANN MoeTokenUnpermute",
    .known_as = {.calls = {{"npu_moe_token_unpermute, _npu_moe_token_unpermute, MoeTokenUnpermute",
                            "permuted_tokens, sorted_indices, probs?",
                            "unpermuted_tokens|result|out",
                            {.where = "padded_mode: 0"}}}},
    .inputs = {{"permuted_tokens", "permuted_tokens", {}, unit_data},
               places_of_copies("sorted_indices"),
               {"probs", "probs", {}, unit_data}},
    .outputs = {{"unpermuted_tokens"}},
    .optional_inputs = 1,
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic<1>,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::sums,
}};

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs&) {
  require_rank(kGradName, "permuted_tokens", inputs[0], 2, "[rows, columns]");
  require_rank(kGradName, "sorted_indices", inputs[2], 1, "one axis");
  const bool has_probs = is_given(inputs, 3);
  const std::int64_t k = copies_of_token(kGradName, inputs[2], has_probs ? &inputs[3] : nullptr);
  const Dims expected = {inputs[2].elements() / k, inputs[0].shape[1]};
  if (inputs[1].shape != expected) {
    throw Error(fmt::format("{}: 'unpermuted_tokens_grad' has shape {}; allowed: {}", kGradName,
                            to_string(inputs[1].shape), to_string(expected)));
  }
  std::vector<TensorDesc> outputs = {describe(inputs[0].dtype, inputs[0].shape)};
  if (has_probs) outputs.push_back(describe(inputs[3].dtype, inputs[3].shape));
  return outputs;
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs&) {
  const Copies of(inputs[0], inputs[2], is_given(inputs, 3) ? &inputs[3] : nullptr);
  const std::vector<double> x = inputs[0].read_all(), dy = inputs[1].read_all();
  std::vector<double> dx(x.size()), dprobs(of.places.size());
  of.for_each([&](std::size_t i, std::size_t row) {
    const double* const from = dy.data() + i / of.k * of.columns;
    for (std::size_t c = 0; c < of.columns; ++c) {
      dx[row * of.columns + c] = of.probs[i] * from[c];
      dprobs[i] += x[row * of.columns + c] * from[c];
    }
  });
  return elements_of({std::move(dx), std::move(dprobs)});
}

void check_grad(const Problem& problem, std::span<const InputReader> inputs) {
  check_rows_once({kGradName, "sorted_indices"}, problem.inputs[0].shape[0],
                  inputs[2].read_index());
}

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "_npu_moe_token_unpermute_backward",
    .summary = "dx[sorted_indices[t*k + j]] = probs[t][j]*dy[t], dprobs[t][j] = the sum of "
               "x[sorted_indices[t*k + j]]*dy[t]",
    .source = "torch_npu npu_moe_token_unpermute backward; CANN MoeTokenUnpermuteGrad",
    .known_as = {.calls = {{"MoeTokenUnpermuteGrad, npu_moe_token_unpermute_backward, "
                            "_npu_moe_token_unpermute_backward",
                            "permuted_tokens, unpermuted_tokens_grad|grad, sorted_indices, probs?",
                            "permuted_tokens_grad|result0, probs_grad|result1",
                            {.where = "padded_mode: 0"}}}},
    .inputs = {{"permuted_tokens", "permuted_tokens", {}, unit_data},
               {"unpermuted_tokens_grad", "unpermuted_tokens_grad", {}, unit_data},
               places_of_copies("sorted_indices"),
               {"probs", "probs", {}, unit_data}},
    .outputs = {{"permuted_tokens_grad"}, {"probs_grad"}},
    .optional_inputs = 1,
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic<2>,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          std::vector<Dims> shapes = inputs_like(shape, attrs);
          Dims dy = {shapes[2][0], shape.empty() ? 1 : shape.back()};
          return std::vector<Dims>{shapes[0], dy, shapes[1], shapes[2]};
        },
    .check_values = check_grad,
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
