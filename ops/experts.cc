#include "ops/experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {

SortedCopies::SortedCopies(const std::vector<std::int64_t>& experts)
    : order(experts.size()), place(experts.size()) {
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return experts[static_cast<std::size_t>(a)] < experts[static_cast<std::size_t>(b)];
  });
  for (std::size_t p = 0; p < order.size(); ++p) {
    place[static_cast<std::size_t>(order[p])] = static_cast<std::int64_t>(p);
  }
}

std::int64_t rows_of(const TensorDesc& desc) {
  return element_count({desc.shape.begin(), desc.shape.end() - 1});
}

void require_rank(std::string_view op, std::string_view input, const TensorDesc& desc,
                  std::size_t rank, std::string_view allowed) {
  if (desc.shape.size() == rank) return;
  throw Error(
      fmt::format("{}: '{}' has shape {}; allowed: {}", op, input, to_string(desc.shape), allowed));
}

std::string must_be_positive(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
}

std::string must_not_be_negative(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 or more";
}

TensorSpec places_of_copies(std::string_view name) {
  return {.name = name, .ir_path = name, .dtypes = kExpertDTypes, .data = [](const Problem&) {
            return Distribution{DistributionKind::permutation};
          }};
}

// Two copies in one row would leave the gradient of one of them undefined.
void check_rows_once(const IndexRule& of, std::int64_t rows, std::span<const std::int64_t> places) {
  std::vector<bool> is_named(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= rows) continue;
    auto named = is_named[static_cast<std::size_t>(places[i])];
    if (named) {
      throw Error(fmt::format("{}: {}[{}] is {} again; allowed: each row once", of.op, of.input, i,
                              places[i]));
    }
    named = true;
  }
}

std::vector<GradientCall> sum_of_copies(std::int64_t k) {
  constexpr std::string_view kSum = "moe_token_permute_grad";
  const std::pair<std::string_view, AttrValue> attrs[] = {{"num_topk", k}};
  return {{kSum,
           {{GradientArg::output_gradient, 0}, {GradientArg::output, 1}},
           {0},
           attrs_with(kSum, attrs)}};
}

}  // namespace opbench
