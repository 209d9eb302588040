// Compares the gradients of every differentiable operator with central differences of its
// reference. Most operators are tried on a small tensor, as --shapes would make it. Operators that
// need other inputs or attributes are listed. An operator whose inputs are all floating needs no
// entry here.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

Given index(const Dims& shape, const std::vector<double>& values) {
  return {DType::int64, shape, values};
}

Given rois(const Dims& shape, const std::vector<double>& values) {
  return {DType::fp32, shape, values};
}

// Values for which logarithms, roots and quotients are defined and not too steep.
Given positive(const Dims& shape) {
  Given given{DType::fp32, shape, {}};
  for (std::int64_t k = 0; k < element_count(shape); ++k) {
    given.values.push_back(1 + double(k * 3 % 7) / 4);
  }
  return given;
}

// Inputs with values of their own kind (indexes), attributes whose defaults hide a term, and a few
// shapes that a rule would not choose.
const std::vector<Differentiated>& uses() {
  static const std::vector<Differentiated> all = {
      {"muls", {spread({5})}, {{"value", "1.5"}}},
      {"axpy", {spread({2, 3}), spread({2, 3}, 1)}, {{"alpha", "-0.5"}}},
      {"add", {spread({2, 3}), spread({3}, 1)}},
      {"mul", {spread({2, 1, 3}), spread({4, 1}, 1)}},
      {"softplus", {spread({7})}, {{"beta", "2"}}},
      {"where", {mask({2, 1}, {1, 0}), spread({2, 3}), spread({3}, 1)}},
      {"masked_fill", {spread({2, 3}), mask({1, 3}, {0, 1, 0})}, {{"value", "3"}}},
      {"log", {positive({6})}},
      {"sqrt", {positive({6})}},
      {"rsqrt", {positive({6})}},
      {"pow", {spread({7})}, {{"exponent", "3"}}},
      {"pow", {positive({6})}, {{"exponent", "-1.5"}}},
      {"clamp", {spread({7})}, {{"min", "-1"}, {"max", "2"}}},
      {"gelu", {spread({7})}, {{"approximate", "tanh"}}},
      {"gelu", {spread({7})}},
      {"silu", {spread({7})}},
      {"hardsigmoid", {spread({7})}},
      {"hardswish", {spread({7})}},
      {"leaky_relu", {spread({7})}, {{"negative_slope", "0.5"}}},
      {"norm", {spread({2, 3, 2})}, {{"axes", "[1]"}}},
      {"norm", {positive({2, 3})}, {{"p", "3"}, {"axes", "[-1]"}, {"keep_dims", "true"}}},
      {"norm", {positive({4})}, {{"p", "1"}}},
      {"lrn", {spread({2, 6, 3})}, {{"size", "4"}, {"alpha", "2"}, {"k", "1.5"}}},
      {"group_norm", {spread({2, 4, 3}), positive({4}), spread({4}, 2)}, {{"groups", "2"}}},
      {"embedding_bag", {spread({4, 2}), index({5}, {3, 0, 3, 1, 1}), index({2}, {0, 3})}},
      {"embedding_bag",
       {spread({4, 2}), index({5}, {3, 0, 3, 1, 1}), index({3}, {0, 3, 5}), spread({5}, 1)},
       {{"mode", "sum"}, {"padding_idx", "0"}, {"include_last_offset", "true"}}},
      {"embedding_bag",
       {spread({4, 2}), index({5}, {3, 0, 2, 1, 1}), index({2}, {0, 3})},
       {{"mode", "max"}}},
      {"roi_align",
       {spread({2, 1, 4, 5}), rois({2, 5}, {0, 0.3, 0.2, 3.4, 2.9, 1, 1.1, -2, 2.2, 7})},
       {{"pooled_height", "2"}, {"pooled_width", "1"}, {"aligned", "true"}}},
      {"roi_align",
       {spread({2, 1, 4, 5}), rois({2, 4}, {0.3, 0.2, 3.4, 2.9, 1.1, 2, 2.2, 7})},
       {{"pooled_height", "1"}, {"pooled_width", "2"}, {"sampling_ratio", "2"}}},
      {"repeat_interleave",
       {spread({2, 3}), index({3}, {2, 0, 1})},
       {{"axis", "1"}, {"output_size", "3"}}},
      {"repeat_interleave", {spread({2, 3})}, {{"repeats", "3"}}},
      {"moe_finalize_routing_v2",
       {spread({4, 2}), index({4}, {3, 2, -1, 0}), spread({2, 2}, 1), spread({2, 2}, 2),
        spread({3, 2}, 3), spread({2, 2}, 4), index({2, 2}, {0, 2, 1, 0})}},
      {"moe_finalize_routing_v2", {spread({3, 2}), index({3}, {2, 0, 1})}},
      {"moe_gating_top_k_softmax", {spread({3, 5})}, {{"k", "2"}}},
      {"moe_gating_top_k_softmax", {spread({3, 5})}, {{"k", "3"}, {"renorm", "1"}}},
      {"moe_gating_top_k",
       {spread({3, 5})},
       {{"k", "3"}, {"norm_type", "1"}, {"routed_scaling_factor", "2.5"}}},
      {"hardshrink", {spread({7})}, {{"lambd", "0.7"}}},
      {"softshrink", {spread({7})}, {{"lambd", "0.7"}}},
      {"threshold", {spread({7})}, {{"threshold", "0.3"}, {"value", "5"}}},
      {"celu", {spread({7})}, {{"alpha", "0.5"}}},
      {"grouped_matmul", {spread({4, 2}), spread({3, 2, 2}, 1), index({3}, {1, 1, 4})}},
      {"grouped_matmul",
       {spread({3, 2}), spread({2, 3, 2}, 1), index({2}, {2, 1})},
       {{"transpose_weight", "true"}, {"group_list_type", "1"}}},
      {"moe_token_permute",
       {spread({3, 2}), index({3, 2}, {1, 0, 1, 1, 0, 2})},
       {{"num_out_tokens", "5"}}},
      {"moe_token_unpermute", {spread({6, 2}), index({6}, {4, 2, 0, 5, 3, 1}), spread({3, 2}, 1)}},
      {"moe_token_unpermute", {spread({3, 2}), index({3}, {2, 0, 1})}},
      {"moe_init_routing_v2",
       {spread({3, 2}), index({3, 2}, {1, 0, 1, 1, 0, 1})},
       {{"expert_num", "2"}, {"expert_capacity", "2"}, {"drop_pad_mode", "1"}}},
      {"index_axes", {spread({2, 2, 2}), index({3}, {1, 0, 1}), index({3}, {0, 1, 0})}},
      {"scatter_value", {spread({2, 3}), index({2, 1}, {2, 0})}, {{"value", "3"}}},
      {"scatter", {spread({2, 3}), index({2, 2}, {1, 0, 1, 1}), spread({2, 2}, 1)}},
      {"scatter",
       {spread({2, 3}), index({2, 1}, {2, 0}), spread({2, 1}, 1)},
       {{"dim", "1"}, {"reduce", "update"}}},
      {"index_put",
       {spread({2, 3}), spread({3}, 1), index({3}, {1, 0, 1}), index({3}, {0, 2, 0})},
       {{"accumulate", "true"}}},
      {"index_put", {spread({3, 2}), spread({2, 2}, 1), index({2}, {2, 0})}},
      {"masked_select", {spread({2, 2}), mask({2, 2}, {1, 0, 1, 1})}},
      {"masked_select", {spread({2, 3}), mask({2}, {0, 1})}, {{"by_rows", "true"}, {"rows", "1"}}},
      {"swiglu", {spread({2, 6})}},
      {"clipped_swiglu", {spread({3, 6}), index({2}, {1, 1})}, {{"limit", "2.01"}}},
      {"clipped_swiglu", {spread({2, 6})}, {{"limit", "2.01"}, {"interleaved", "false"}}},
      {"rope", {spread({2, 3, 4}), spread({1, 3, 4}, 1), spread({1, 3, 4}, 2)}},
      {"conv3d", {spread({1, 1, 3, 3, 3}), spread({2, 1, 2, 2, 2}, 1), spread({2}, 2)}},
      {"grid_sample",
       {spread({1, 2, 2, 3}), {DType::fp32, {1, 1, 2, 2}, {-0.125, 0.25, 0.375, -0.125}}}},
      {"conv_transpose2d",
       {spread({1, 4, 2, 3}), spread({4, 1, 2, 3}, 1), spread({2}, 2)},
       {{"groups", "2"}, {"stride", "2"}, {"padding", "[0,1]"}, {"output_padding", "[1,0]"}}},
      {"sub", {spread({2, 3}), spread({3}, 1)}},
      {"div", {spread({2, 1, 3}), positive({2, 1})}},
      {"maximum", {spread({2, 3}), spread({3}, 1)}},
      {"minimum", {spread({2, 1}), spread({2, 3}, 1)}},
      {"addcmul", {spread({2, 3}), spread({3}, 1), spread({2, 1}, 2)}, {{"value", "0.5"}}},
      {"addcdiv", {spread({3}), spread({2, 3}, 1), positive({2, 1})}, {{"value", "-0.5"}}},
      {"reduce_mean", {spread({2, 3, 4})}, {{"axes", "[1]"}}},
      {"concat", {spread({2, 2}), spread({2, 3}, 1)}, {{"axis", "1"}}},
      {"split", {spread({2, 4})}, {{"axis", "1"}}},
      {"reshape", {spread({2, 3})}, {{"shape", "[3,2]"}}},
      {"cast", {spread({5})}, {{"to", "fp64"}}},
      {"gather", {spread({4, 2}), index({3}, {2, 0, 2})}},
      {"index_select", {spread({2, 4}), index({3}, {3, 1, 1})}},
      {"gather", {spread({4, 2}), index({3}, {-2, 0, 2})}, {{"negative_index", "true"}}},
      {"index_select", {spread({2, 4}), index({3}, {-1, 1, -3})}, {{"negative_index", "true"}}},
      {"index_add",
       {spread({4, 2}), index({3}, {-2, 0, 2}), spread({3, 2}, 1)},
       {{"negative_index", "true"}}},
      {"index_add", {spread({4, 2}), index({3}, {2, 0, 2}), spread({3, 2}, 1)}},
      {"matmul", {spread({2, 3}), spread({3, 2}, 1)}},
      {"linear", {spread({3, 2}), spread({4, 2}, 1), spread({4}, 2)}},
      {"conv2d", {spread({1, 2, 3, 3}), spread({2, 2, 2, 2}, 1), spread({2}, 2)}},
      {"avg_pool2d", {spread({1, 2, 4, 4})}},
      {"max_pool2d", {spread({1, 2, 4, 4})}},
      {"cross_entropy", {spread({2, 3}), index({2}, {2, 0})}},
      {"embedding", {spread({4, 2}), index({3}, {2, 0, 2})}},
      {"dropout", {spread({2, 3}), mask({2, 3}, {0, 1, 0, 1, 1, 0})}},
      {"dropout_do_mask", {spread({3, 3}), {DType::uint8, {2}, {0xA3, 1}}}},
      {"nll_loss", {spread({2, 3}), index({2}, {2, 0})}},
      {"batch_norm",
       {spread({3, 2}),
        spread({2}, 1),
        spread({2}, 2),
        spread({2}, 3),
        {DType::fp32, {2}, {1, 2}}}},
  };
  return all;
}

bool is_listed(const Op& op) {
  return std::any_of(uses().begin(), uses().end(),
                     [&](const Differentiated& use) { return use.op == op.name; });
}

// A use on the first of some small shapes that the operator takes. Empty if it takes no such shape,
// or if an input is not floating.
std::optional<Differentiated> usual_use(const Op& op) {
  const Attrs attrs(op.attrs);
  for (const Dims& shape : {Dims{2, 3}, Dims{1, 4, 2, 1}, Dims{7}}) {
    try {
      const Problem problem = make_problem(
          op, describe_inputs(op, shapes_like(op, shape, attrs), DType::fp32, Format::ND, attrs),
          attrs);
      Differentiated use{std::string(op.name), {}};
      for (const TensorDesc& input : problem.inputs) {
        if (!is_floating(input.dtype)) return std::nullopt;
        use.inputs.push_back(spread(input.shape, static_cast<int>(use.inputs.size())));
      }
      return use;
    } catch (const Error&) {
      // The operator takes another rank or another divisor. The next shape is tried.
    }
  }
  return std::nullopt;
}

}  // namespace

TEST(Gradients, AgreeWithFiniteDifferences) {
  for (const Differentiated& use : uses()) expect_gradients(use);
}

// An operator without an entry is tried with the default attributes.
TEST(Gradients, OfEveryOperatorAreHeldAgainstThem) {
  int usual = 0;
  for (const Op* op : RegisteredOp::all()) {
    if (op->gradient == nullptr || is_listed(*op)) continue;
    // trans_data changes the storage and keeps all values. Its gradient is itself in the other
    // direction.
    if (op->name == "trans_data") continue;
    const std::optional<Differentiated> use = usual_use(*op);
    ASSERT_TRUE(use) << op->name << " needs inputs of its own: list it above";
    expect_gradients(*use);
    ++usual;
  }
  EXPECT_GE(usual, 8);
}

}  // namespace opbench
