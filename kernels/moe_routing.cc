// Copies of tokens in the order of their experts: a sort or a count of the experts, then one pass
// over the rows.
#include <algorithm>
#include <cstring>

#include "kernels/experts.h"
#include "kernels/index_at.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

using Order = void (CopyOrder::*)(const void* experts);

/// Rows of the result copied from rows of x; a source of -1 gives zeros.
struct Rows {
  std::size_t bytes;
  std::int64_t count;

  explicit Rows(const Problem& problem)
      : bytes(static_cast<std::size_t>(problem.inputs[0].shape.back()) *
              size_of(problem.inputs[0].dtype)),
        count(bytes == 0 ? 0 : static_cast<std::int64_t>(problem.outputs[0].bytes() / bytes)) {}

  template <class Source>
  void copy(const KernelArgs& args, Source source) const {
    const auto* const x = static_cast<const std::byte*>(args.inputs[0]);
    auto* const y = static_cast<std::byte*>(args.outputs[0]);
    parallel_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t from = source(row);
        std::byte* const to = y + static_cast<std::size_t>(row) * bytes;
        if (from < 0) {
          std::memset(to, 0, bytes);
        } else {
          std::memcpy(to, x + static_cast<std::size_t>(from) * bytes, bytes);
        }
      }
    });
  }
};

std::int64_t copies_of_token(const Problem& problem) {
  const Dims& experts = problem.inputs[1].shape;
  return experts.size() == 2 ? std::max<std::int64_t>(1, experts[1]) : 1;
}

void store_places(const CopyOrder& order, const KernelArgs& args) {
  auto* const places = static_cast<std::int32_t*>(args.outputs[1]);
  for (std::int64_t p = 0; p < order.copies(); ++p) places[order[p]] = static_cast<std::int32_t>(p);
}

template <Order kOrder>
Launch permute(const Problem& problem) {
  return [order = CopyOrder(problem.inputs[1]), rows = Rows(problem),
          k = copies_of_token(problem)](const KernelArgs& args) mutable {
    (order.*kOrder)(args.inputs[1]);
    store_places(order, args);
    rows.copy(args, [&](std::int64_t row) { return order[row] / k; });
  };
}

std::size_t order_bytes(const Problem& problem) { return CopyOrder::bytes(problem.inputs[1]); }

/// moe_init_routing_v2 with its counts.
struct InitRouting {
  CopyOrder order;
  Rows rows;
  std::int64_t k, capacity, experts, flag;
  bool is_padded;
  std::vector<std::int64_t> copy_at;
  std::vector<std::int32_t> counts;

  explicit InitRouting(const Problem& problem)
      : order(problem.inputs[1]),
        rows(problem),
        k(copies_of_token(problem)),
        capacity(problem.attrs.integer("expert_capacity")),
        experts(problem.attrs.integer("expert_num")),
        flag(problem.attrs.integer("expert_tokens_count_or_cumsum_flag")),
        is_padded(problem.attrs.integer("drop_pad_mode") == 1),
        copy_at(is_padded ? static_cast<std::size_t>(experts * capacity) : 0),
        counts(static_cast<std::size_t>(experts)) {}

  static std::size_t bytes(const Problem& problem) {
    if (problem.attrs.integer("drop_pad_mode") != 1) return order_bytes(problem);
    const double wanted = double(problem.attrs.integer("expert_num")) *
                          double(problem.attrs.integer("expert_capacity")) * sizeof(std::int64_t);
    return order_bytes(problem) + static_cast<std::size_t>(std::min(wanted, 0x1p62));
  }

  // Counts the copies of each expert; with a capacity it also gives each copy its place.
  void place_copies(const KernelArgs& args) {
    auto* const places = static_cast<std::int32_t*>(args.outputs[1]);
    std::fill(counts.begin(), counts.end(), 0);
    std::fill(copy_at.begin(), copy_at.end(), -1);
    for (std::int64_t p = 0; p < order.copies() && experts > 0; ++p) {
      const std::int64_t copy = order[p], expert = order.expert(args.inputs[1], copy);
      const std::int32_t before = counts.data()[expert]++;
      if (!is_padded) continue;
      const std::int64_t place = before < capacity ? expert * capacity + before : -1;
      places[copy] = static_cast<std::int32_t>(place);
      if (place >= 0) copy_at.data()[place] = copy;
    }
    if (!is_padded) store_places(order, args);
  }

  void store_counts(const KernelArgs& args) const {
    if (args.outputs.size() < 3) return;
    auto* const to = static_cast<std::int32_t*>(args.outputs[2]);
    std::int32_t total = 0;
    for (std::size_t e = 0; e < counts.size(); ++e) {
      total = counts[e] + (!is_padded && flag == 1 ? total : 0);
      to[e] = total;
    }
  }

  template <Order kOrder>
  void run(const KernelArgs& args) {
    (order.*kOrder)(args.inputs[1]);
    place_copies(args);
    store_counts(args);
    if (!is_padded) return rows.copy(args, [&](std::int64_t row) { return order[row] / k; });
    rows.copy(args, [&](std::int64_t row) {
      const std::int64_t copy = copy_at.data()[row];
      return copy < 0 ? copy : copy / k;
    });
  }
};

template <Order kOrder>
Launch init_routing(const Problem& problem) {
  return [plan = InitRouting(problem)](const KernelArgs& args) mutable { plan.run<kOrder>(args); };
}

Launch count_tokens(const Problem& problem) {
  return
      [dtype = problem.inputs[0].dtype, copies = problem.inputs[0].elements(),
       totals = std::vector<std::int64_t>(static_cast<std::size_t>(problem.outputs[0].elements()))](
          const KernelArgs& args) mutable {
        std::fill(totals.begin(), totals.end(), 0);
        for (std::int64_t i = 0; i < copies; ++i)
          ++totals.data()[index_at(dtype, args.inputs[0], i)];
        std::int64_t total = 0;
        for (std::size_t e = 0; e < totals.size(); ++e) {
          total += totals[e];
          if (dtype == DType::int64) static_cast<std::int64_t*>(args.outputs[0])[e] = total;
          if (dtype == DType::int32) {
            static_cast<std::int32_t*>(args.outputs[0])[e] = static_cast<std::int32_t>(total);
          }
        }
      };
}

Kernel variant(std::string_view op, std::string_view name, Provider provider,
               std::string_view summary, Launch (*prepare)(const Problem& problem),
               std::size_t (*bytes)(const Problem& problem)) {
  return {.op = op,
          .name = name,
          .provider = provider,
          .summary = summary,
          .prepare = prepare,
          .temporary_bytes = bytes};
}

constexpr std::string_view kSort = "experts sorted with the numbers of copies, then row after row";
constexpr Order kBySort = &CopyOrder::sort, kByCount = &CopyOrder::count;

const RegisteredKernel kernels[] = {
    RegisteredKernel(variant("moe_token_permute", "native", Provider::framework, kSort,
                             permute<kBySort>, order_bytes)),
    RegisteredKernel(variant("moe_token_permute", "moe_token_permute", Provider::npu,
                             "MoeTokenPermute: copies counted by expert, rows over threads",
                             permute<kByCount>, order_bytes)),
    RegisteredKernel(variant("moe_init_routing_v2", "native", Provider::framework, kSort,
                             init_routing<kBySort>, InitRouting::bytes)),
    RegisteredKernel(variant("moe_init_routing_v2", "moe_init_routing_v2", Provider::npu,
                             "MoeInitRoutingV2: copies counted by expert, rows over threads",
                             init_routing<kByCount>, InitRouting::bytes)),
    RegisteredKernel(variant("moe_compute_expert_tokens", "native", Provider::framework,
                             "counts of experts, then their running sum", count_tokens, nullptr)),
};

}  // namespace
}  // namespace opbench
