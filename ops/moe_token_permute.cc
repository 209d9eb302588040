// Copies of tokens in the order of their experts, and the gradient that sums them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ops/elementwise.h"
#include "ops/experts.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "moe_token_permute", kGradName = "moe_token_permute_grad";

// The experts of a token.
std::int64_t experts_of_token(const TensorDesc& indices) {
  return indices.shape.size() == 2 ? indices.shape[1] : 1;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_rank(kName, "tokens", inputs[0], 2, "[tokens, columns]");
  const Dims &tokens = inputs[0].shape, &indices = inputs[1].shape;
  if (indices.empty() || indices.size() > 2 || indices[0] != tokens[0]) {
    throw Error(fmt::format("{}: 'indices' has shape {}; allowed: [{}] or [{}, experts]", kName,
                            to_string(indices), tokens[0], tokens[0]));
  }
  const std::int64_t copies = inputs[1].elements(), asked = attrs.integer("num_out_tokens");
  const std::int64_t rows =
      asked > 0 ? std::min(asked, copies) : std::max<std::int64_t>(0, copies + asked);
  return {describe(inputs[0].dtype, {rows, tokens[1]}), describe(DType::int32, {copies})};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs&) {
  auto sorted = std::make_shared<const SortedCopies>(inputs[1].read_index());
  const std::int64_t columns = inputs[0].desc().shape[1], k = experts_of_token(inputs[1].desc());
  const ExactReference rows =
      moved(inputs.first(1), [sorted, columns, k](std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t inside = element % columns;
        const std::int64_t copy = sorted->order[static_cast<std::size_t>(element / columns)];
        return {0, copy / k * columns + inside, columns - inside};
      });
  return [rows, sorted](std::size_t output, ElementRange range, void* to) {
    if (output == 0) return rows(0, range, to);
    std::copy_n(sorted->place.begin() + range.first, range.count, static_cast<std::int32_t*>(to));
  };
}

std::vector<GradientCall> gradient(const Problem& forward) {
  return sum_of_copies(std::max<std::int64_t>(1, experts_of_token(forward.inputs[1])));
}

LikelyAttrs likely_rows(const Shapes&, const Shapes& outputs) {
  if (outputs[0].empty()) return {};
  return {{{"num_out_tokens", {double(outputs[0][0])}}}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_moe_token_permute",
    .summary = "the copies of tokens for their experts, by ascending expert, and where each went",
    .source = "torch_npu npu_moe_token_permute; CANN MoeTokenPermute",
    .known_as = {.calls = {{"npu_moe_token_permute, MoeTokenPermute",
                            "tokens, indices",
                            "permuted_tokens|result0, sorted_indices|result1",
                            {.attrs = "num_out_tokens", .where = "padded_mode: 0"}}},
                 .likely = likely_rows},
    .inputs = {{"tokens"},
               {.name = "indices",
                .dtypes = kExpertDTypes,
                .data = [](const Problem&) { return index_data(8); }}},
    .outputs = {{"permuted_tokens"},
                {.name = "sorted_indices", .ir_path = "sorted_indices", .differentiable = false}},
    .attrs = {{"num_out_tokens", std::int64_t{0},
               "rows of the result, at most one for each copy; 0: all; negative: fewer than all"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, {shape.empty() ? 1 : shape[0], 2}};
        },
    .check_values =
        [](const Problem&, std::span<const InputReader> inputs) {
          check_index({kName, "indices", std::int64_t{1} << 31}, inputs[1].read_index());
        },
}};

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const std::int64_t k = attrs.integer("num_topk"), copies = inputs[1].elements();
  const Dims& shape = inputs[0].shape;
  if (shape.size() < 2)
    require_rank(kGradName, "permuted_output_d", inputs[0], 2, "[rows, columns]");
  if (copies % k != 0) {
    throw Error(
        fmt::format("{}: 'sorted_indices' has {} elements; allowed: a multiple of the {} "
                    "copies of a token",
                    kGradName, copies, k));
  }
  return {describe(inputs[0].dtype, {copies / k, shape.back()})};
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape.back());
  const auto k = static_cast<std::size_t>(attrs.integer("num_topk"));
  const std::int64_t rows = rows_of(inputs[0].desc());
  const std::vector<double> dy = inputs[0].read_all();
  const std::vector<std::int64_t> places = inputs[1].read_index();
  std::vector<double> sums(places.size() / k * columns);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= rows) continue;
    const double* const from = dy.data() + static_cast<std::size_t>(places[i]) * columns;
    for (std::size_t c = 0; c < columns; ++c) sums[i / k * columns + c] += from[c];
  }
  return elements_of({std::move(sums)});
}

LikelyAttrs likely_copies(const Shapes& inputs, const Shapes& outputs) {
  if (outputs[0].empty() || outputs[0][0] == 0) return {};
  const double k = double(element_count(inputs[1]) / outputs[0][0]);
  return {{{"num_topk", {k}}, {"top_k", {k}}}};
}

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "npu_moe_token_permute_backward",
    .summary = "y[t] = the sum of x[sorted_indices[t*k + j]] over j; indices outside of x give 0",
    .source = "torch_npu npu_moe_token_permute backward; CANN MoeTokenPermuteGrad",
    .known_as = {.calls = {{"MoeTokenPermuteGrad, npu_moe_token_permute_backward, "
                            "npu_moe_token_permute_grad",
                            "permuted_output_d|permuted_tokens_grad|grad, sorted_indices",
                            "input_tokens_grad|result",
                            {.attrs = "num_topk: num_topk|num_topK", .where = "padded_mode: 0"}},
                           {"MoeInitRoutingV2Grad",
                            "grad_expanded_x, expanded_row_idx",
                            "grad_x",
                            {.attrs = "num_topk: top_k", .needs = "num_topk"}}},
                 .likely = likely_copies},
    .inputs = {{"permuted_output_d", "permuted_output_d", {}, unit_data},
               places_of_copies("sorted_indices")},
    .outputs = {{"input_tokens_grad"}},
    .attrs = {{"num_topk", std::int64_t{1}, "experts of a token", must_be_positive}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = input_traffic<1>,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const std::int64_t k = attrs.integer("num_topk"), rows = shape.empty() ? 1 : shape[0];
          return std::vector<Dims>{shape, {std::max<std::int64_t>(1, rows / k) * k}};
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
