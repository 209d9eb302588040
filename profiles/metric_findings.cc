#include <fmt/format.h>

#include <algorithm>

#include "profiles/finding_rules.h"

namespace opbench {
namespace {

/// A rule of metrics and how its finding reads.
struct MetricRule {
  std::string_view name;
  const char* what;
  /// The part of the time that a better kernel could save, by the metric.
  double (*part)(double) = [](double busy) { return std::max(0.0, 1 - busy); };
  bool is_of_all_cores = false;  ///< the metric is of one core; the limit is of all
};

constexpr MetricRule kMetricRules[] = {
    {"cube_bound", "bound by the cube unit"},
    {"vector_bound", "bound by the vector unit"},
    // A kernel at the bandwidth cannot be faster; fusing can save any part.
    {"bandwidth_bound", "bound by the bandwidth of the main memory", [](double) { return 0.0; },
     true},
    {"conflict_bound", "conflicts of the vector unit: banks, resources, pipes",
     [](double conflicts) { return std::min(1.0, conflicts); }},
};

// The largest metrics of the rule: "vec_fp32_ratio 0.81".
std::string largest_metric(const ProfileView& view, const HotOperator& one,
                           const FindingRule& rule) {
  std::string text;
  double most = 0;
  for (const std::string& name : rule.types) {
    const auto value = view.spots().metric(one, std::span(&name, 1));
    if (!value || *value <= most) continue;
    most = *value;
    text = fmt::format("{} {:.3g}", name, most);
  }
  return text;
}

// Blocks beyond the cores of the device wait. If its cores are not stated, a block dim larger than
// the rule allows counts as one core.
double busy_cores(const HotOperator& one, const CoreCounts& device, const FindingRule& rule) {
  const std::int64_t cores = std::max(device.cube, device.vector);
  const std::int64_t blocks = std::max<std::int64_t>(1, one.least_blocks);
  if (cores > 0) return static_cast<double>(std::min(blocks, cores));
  return blocks > rule.times ? 1 : static_cast<double>(blocks);
}

}  // namespace

void find_metric_bounds(const ProfileView& view, const CoreCounts& cores_of_device,
                        std::vector<Finding>& found) {
  for (const MetricRule& metric : kMetricRules) {
    const FindingRule& rule = view.rules().finding(metric.name);
    std::vector<const HotOperator*> bound;
    std::vector<std::string> texts;
    std::vector<double> parts;
    for (const HotOperator& one : view.operators()) {
      const auto value = view.spots().metric(one, rule.types);
      const double cores = metric.is_of_all_cores ? busy_cores(one, cores_of_device, rule) : 1;
      if (!value || view.share(one) < rule.share || *value * cores < rule.limit) continue;
      bound.push_back(&one);
      parts.push_back(metric.part(*value));
      texts.push_back(metric.is_of_all_cores
                          ? fmt::format("{:.0f} GB/s on {:.0f} cores", *value * cores, cores)
                          : largest_metric(view, one, rule));
    }
    if (bound.empty()) continue;
    Finding finding = view.finding(metric.name, metric.what, bound, parts);
    for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
      finding.evidence[i].text += "; " + texts[i];
    }
    found.push_back(std::move(finding));
  }
}

}  // namespace opbench
