// Tokens sent to their experts, with the places of their copies and the load of the experts.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ops/elementwise.h"
#include "ops/experts.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "moe_init_routing_v2", kCountName = "moe_compute_expert_tokens";

enum class Count { none, totals, each };

/// The attributes of one use.
struct Routing {
  std::int64_t active, capacity, experts;
  bool is_padded, counts_before;
  Count count;

  explicit Routing(const Attrs& attrs)
      : active(attrs.integer("active_num")),
        capacity(attrs.integer("expert_capacity")),
        experts(attrs.integer("expert_num")),
        is_padded(attrs.integer("drop_pad_mode") == 1),
        counts_before(attrs.flag("expert_tokens_before_capacity_flag")),
        count(static_cast<Count>(attrs.integer("expert_tokens_count_or_cumsum_flag"))) {}

  // The output of counts exists if it is asked for.
  bool has_counts() const { return is_padded ? counts_before : count != Count::none; }
};

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Routing of(attrs);
  require_rank(kName, "x", inputs[0], 2, "[tokens, columns]");
  const Dims &x = inputs[0].shape, &experts = inputs[1].shape;
  if (experts.size() != 2 || experts[0] != x[0]) {
    throw Error(fmt::format("{}: 'expert_idx' has shape {}; allowed: [{}, experts of a token]",
                            kName, to_string(experts), x[0]));
  }
  if (of.is_padded && (of.experts == 0 || of.capacity == 0 || of.capacity > x[0])) {
    throw Error(
        fmt::format("{}: expert_num is {} and expert_capacity {}; drop_pad_mode 1 needs experts, "
                    "each with a capacity of 1 to {}",
                    kName, of.experts, of.capacity, x[0]));
  }
  if (!of.is_padded && of.count != Count::none && of.experts == 0) {
    throw Error(
        fmt::format("{}: expert_num is 0; expert_tokens_count_or_cumsum_flag {} needs the "
                    "number of experts",
                    kName, static_cast<int>(of.count)));
  }
  const std::int64_t copies = inputs[1].elements();
  const std::int64_t rows = of.active > 0 ? std::min(of.active, copies) : copies;
  std::vector<TensorDesc> outputs = {
      describe(inputs[0].dtype,
               of.is_padded ? Dims{of.experts, of.capacity, x[1]} : Dims{rows, x[1]}),
      describe(DType::int32, {copies})};
  if (of.has_counts()) outputs.push_back(describe(DType::int32, {of.experts}));
  return outputs;
}

/// The copies of all tokens at their places.
struct Routed {
  std::vector<std::int64_t> copy_at;       // of each row of expanded_x; -1: zeros
  std::vector<std::int32_t> place, count;  // outputs 1 and 2

  Routed(const std::vector<std::int64_t>& experts, const Routing& of)
      : place(experts.size()), count(static_cast<std::size_t>(of.experts)) {
    const SortedCopies sorted(experts);
    copy_at = sorted.order;
    std::copy(sorted.place.begin(), sorted.place.end(), place.begin());
    if (of.is_padded) copy_at.assign(static_cast<std::size_t>(of.experts * of.capacity), -1);
    if (of.experts == 0) return;
    for (const std::int64_t copy : sorted.order) {
      const std::int64_t expert = experts[static_cast<std::size_t>(copy)];
      const std::int32_t before = count[static_cast<std::size_t>(expert)]++;
      if (of.is_padded) settle(copy, before < of.capacity ? expert * of.capacity + before : -1);
    }
    if (of.is_padded || of.count != Count::totals) return;
    for (std::size_t e = 1; e < count.size(); ++e) count[e] += count[e - 1];
  }

  void settle(std::int64_t copy, std::int64_t to) {
    place[static_cast<std::size_t>(copy)] = static_cast<std::int32_t>(to);
    if (to >= 0) copy_at[static_cast<std::size_t>(to)] = copy;
  }
};

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  auto routed = std::make_shared<const Routed>(inputs[1].read_index(), Routing(attrs));
  const std::int64_t columns = inputs[0].desc().shape[1], k = inputs[1].desc().shape[1];
  const ExactReference rows =
      moved(inputs.first(1), [routed, columns, k](std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t inside = element % columns;
        const std::int64_t copy = routed->copy_at[static_cast<std::size_t>(element / columns)];
        if (copy < 0) return {SourceRun::kZeros, 0, columns - inside};
        return {0, copy / k * columns + inside, columns - inside};
      });
  return [rows, routed](std::size_t output, ElementRange range, void* to) {
    if (output == 0) return rows(0, range, to);
    const auto& values = output == 1 ? routed->place : routed->count;
    std::copy_n(values.begin() + range.first, range.count, static_cast<std::int32_t*>(to));
  };
}

std::vector<GradientCall> gradient(const Problem& forward) {
  return sum_of_copies(std::max<std::int64_t>(1, forward.inputs[1].shape[1]));
}

// Experts without a number are any.
std::int64_t experts_of(const Attrs& attrs) {
  const std::int64_t experts = attrs.integer("expert_num");
  return experts > 0 ? experts : 8;
}

TensorSpec index_output(std::string_view name) {
  return {.name = name, .ir_path = name, .differentiable = false};
}

std::vector<AttrSpec> routing_attrs() {
  return {{"active_num", std::int64_t{0}, "rows of the result in mode 0; 0 or less: all"},
          {"expert_capacity", std::int64_t{0}, "rows of an expert in mode 1", must_not_be_negative},
          {"expert_num", std::int64_t{0}, "how many experts; 0: any, without counts",
           [](const AttrValue& value) -> std::string {
             const auto experts = std::get<std::int64_t>(value);
             return experts >= 0 && experts <= 10240 ? "" : "it must be 0 to 10240";
           }},
          {"drop_pad_mode", std::int64_t{0},
           "0: copies side by side; 1: `expert_capacity` rows for each expert, others dropped",
           [](const AttrValue& value) -> std::string {
             const auto mode = std::get<std::int64_t>(value);
             return mode == 0 || mode == 1 ? "" : "it must be 0 or 1";
           }},
          {"expert_tokens_count_or_cumsum_flag", std::int64_t{0},
           "in mode 0, rows of each expert: 0 none, 1 running totals, 2 counts",
           [](const AttrValue& value) -> std::string {
             const auto flag = std::get<std::int64_t>(value);
             return flag >= 0 && flag <= 2 ? "" : "it must be 0, 1 or 2";
           }},
          {"expert_tokens_before_capacity_flag", false,
           "in mode 1, counts of each expert, dropped copies included"}};
}

// Counts are taken for running totals.
LikelyAttrs likely_routing(const Shapes&, const Shapes& outputs) {
  const Dims& x = outputs[0];
  if (x.size() == 3) {
    return {{{"drop_pad_mode", {1}},
             {"expert_num", {double(x[0])}},
             {"expert_capacity", {double(x[1])}}}};
  }
  if (x.empty()) return {};
  const double experts = outputs.size() > 2 ? double(element_count(outputs[2])) : 0;
  return {{{"active_num", {double(x[0])}},
           {"expert_num", {experts}},
           {"expert_tokens_count_or_cumsum_flag", {experts > 0 ? 1.0 : 0.0}}}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_moe_init_routing_v2",
    .summary = "the copies of tokens for their experts by ascending expert, with or without a "
               "capacity; where each went; the load of each expert",
    .source = "aclnnMoeInitRoutingV2; CANN MoeInitRoutingV2",
    .known_as =
        {.calls =
             {{"MoeInitRoutingV2",
               "x, expert_idx",
               "expanded_x, expanded_row_idx, expert_tokens_count_or_cumsum",
               {.attrs = "active_num, expert_capacity, expert_num, drop_pad_mode, "
                         "expert_tokens_count_or_cumsum_flag",
                .where = "drop_pad_mode: 0"}},
              {"MoeInitRoutingV2",
               "x, expert_idx",
               "expanded_x, expanded_row_idx, expert_tokens_before_capacity",
               {.attrs = "expert_capacity, expert_num, drop_pad_mode, "
                         "expert_tokens_before_capacity_flag",
                .only = "drop_pad_mode: 1"}},
              // Without quantisation, capacity and experts of other ranks: totals, counts, none.
              {"npu_moe_init_routing_v2, MoeInitRoutingV3",
               "x, expert_idx",
               "expanded_x|result0, expanded_row_idx|result1, "
               "expert_tokens_count_or_cumsum|result2",
               {.attrs = "active_num, expert_num, expert_tokens_count_or_cumsum_flag: =1",
                .where = "expert_tokens_num_type: 0, expert_tokens_num_flag: 1, quant_mode: -1, "
                         "row_idx_type: 0, drop_pad_mode: 0, active_expert_range:",
                .needs = "expert_num"}},
              {"npu_moe_init_routing_v2, MoeInitRoutingV3",
               "x, expert_idx",
               "expanded_x|result0, expanded_row_idx|result1, "
               "expert_tokens_count_or_cumsum|result2",
               {.attrs = "active_num, expert_num, expert_tokens_count_or_cumsum_flag: =2",
                .where = "expert_tokens_num_flag: 1, quant_mode: -1, row_idx_type: 0, "
                         "drop_pad_mode: 0, active_expert_range:",
                .only = "expert_tokens_num_type: 1",
                .needs = "expert_num"}},
              {"npu_moe_init_routing_v2, MoeInitRoutingV3",
               "x, expert_idx",
               "expanded_x|result0, expanded_row_idx|result1",
               {.attrs = "active_num",
                .where = "expert_tokens_num_flag: 0, quant_mode: -1, row_idx_type: 0, "
                         "drop_pad_mode: 0, active_expert_range:"}}},
         .likely = likely_routing},
    .inputs = {{"x"},
               {.name = "expert_idx",
                .dtypes = kExpertDTypes,
                .data =
                    [](const Problem& problem) { return index_data(experts_of(problem.attrs)); }}},
    .outputs = {{"expanded_x"}, index_output("expanded_row_idx"), index_output("expert_tokens")},
    .attrs = routing_attrs(),
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
        [](const Problem& problem, std::span<const InputReader> inputs) {
          const std::int64_t experts = problem.attrs.integer("expert_num");
          const IndexRule any{kName, "expert_idx", std::int64_t{1} << 31, true};
          const IndexRule rule{kName, "expert_idx", experts};
          check_index(experts > 0 ? rule : any, inputs[1].read_index());
        },
}};

std::vector<TensorDesc> infer_count(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_rank(kCountName, "sorted_experts", inputs[0], 1, "one axis");
  return {describe(inputs[0].dtype, {attrs.integer("num_experts")})};
}

ExactReference reference_count(std::span<const InputReader> inputs, const Attrs& attrs) {
  std::vector<std::int64_t> totals(static_cast<std::size_t>(attrs.integer("num_experts")));
  for (const std::int64_t expert : inputs[0].read_index())
    ++totals[static_cast<std::size_t>(expert)];
  for (std::size_t e = 1; e < totals.size(); ++e) totals[e] += totals[e - 1];
  return [totals, dtype = inputs[0].desc().dtype](std::size_t, ElementRange range, void* to) {
    const auto from = totals.begin() + range.first;
    if (dtype == DType::int64) std::copy_n(from, range.count, static_cast<std::int64_t*>(to));
    if (dtype == DType::int32) std::copy_n(from, range.count, static_cast<std::int32_t*>(to));
  };
}

const RegisteredOp registered_count{{
    .name = kCountName,
    .ir_name = "npu_moe_compute_expert_tokens",
    .summary = "y[e] = the number of copies for experts 0 to e",
    .source = "torch_npu npu_moe_compute_expert_tokens; CANN MoeComputeExpertTokens",
    .known_as = {.calls = {{"npu_moe_compute_expert_tokens, MoeComputeExpertTokens",
                            "sorted_experts|sorted_expert_for_source_row",
                            "total_rows_before_expert|result|out",
                            {.attrs = "num_experts: num_experts|num_expert",
                             .needs = "num_experts"}}},
                 .likely = [](const Shapes&, const Shapes& outputs) -> LikelyAttrs {
                   const double experts = double(element_count(outputs[0]));
                   return {{{"num_experts", {experts}}, {"num_expert", {experts}}}};
                 }},
    .inputs = {{.name = "sorted_experts",
                .data =
                    [](const Problem& problem) {
                      return index_data(problem.attrs.integer("num_experts"));
                    }}},
    .outputs = {{"total_rows_before_expert"}},
    .attrs = {{"num_experts", std::int64_t{8}, "how many experts", must_be_positive}},
    .dtypes = kExpertDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_count,
    .exact_reference = reference_count,
    .traffic = movement_traffic,
    .inputs_like = [](const Dims& shape,
                      const Attrs&) { return std::vector<Dims>{{element_count(shape)}}; },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({kCountName, "sorted_experts", problem.attrs.integer("num_experts")},
                      inputs[0].read_index());
        },
}};

}  // namespace
}  // namespace opbench
