#include "compare/reason_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "compare/analysis.h"
#include "text/fitted.h"

namespace opbench {
namespace {

/// Groups tensors by texts, which must outlive it.
class Grouper {
 public:
  void add(std::string_view reason, const TensorResult& tensor) {
    const auto [place, is_new] = places_.emplace(reason, groups_.size());
    if (is_new) groups_.push_back({std::string(reason), {}});
    groups_[place->second].tensors.push_back(&tensor);
  }

  std::vector<ReasonGroup> largest_first() {
    const auto larger = [](const ReasonGroup& a, const ReasonGroup& b) {
      return a.tensors.size() > b.tensors.size();
    };
    std::stable_sort(groups_.begin(), groups_.end(), larger);
    return std::move(groups_);
  }

 private:
  std::map<std::string_view, std::size_t> places_;
  std::vector<ReasonGroup> groups_;
};

}  // namespace

std::vector<ReasonGroup> by_reason(const Comparison& comparison, Verdict verdict) {
  Grouper grouper;
  for (const OperatorResult& op : comparison.operators) {
    for (const TensorResult& tensor : op.tensors) {
      if (tensor.judgement.verdict == verdict) grouper.add(tensor.judgement.reason, tensor);
    }
  }
  return grouper.largest_first();
}

std::vector<ReasonGroup> by_warning(const Comparison& comparison) {
  Grouper grouper;
  for (const OperatorResult& op : comparison.operators) {
    for (const TensorResult& tensor : op.tensors) {
      for (const std::string& warning : tensor.warnings) grouper.add(warning, tensor);
    }
  }
  return grouper.largest_first();
}

std::string why_not_compared(const Comparison& comparison) {
  const ComparisonCounts counts = count(comparison);
  if (counts.unread == 0 && counts.compared() > 0) return {};
  const Verdict verdict = counts.unread > 0 ? Verdict::unread : Verdict::not_compared;
  const std::int64_t tensors = counts.unread > 0 ? counts.unread : counts.not_compared;
  const std::vector<ReasonGroup> groups = by_reason(comparison, verdict);
  if (groups.empty()) return "no tensor is in both dumps";
  const ReasonGroup& most = groups.front();
  return fmt::format("{} could not be {}, first {}: {}", counted(tensors, "tensor"),
                     counts.unread > 0 ? "read" : "compared", most.tensors.front()->entry().path,
                     most.reason);
}

}  // namespace opbench
