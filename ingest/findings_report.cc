#include "ingest/findings_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tensor/printable.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

void print_order(std::ostream& out, const TaskOrder& order) {
  if (!order.is_known() || order.span_ps() == 0) return;
  out << fmt::format("\n{}: a task ran for {} of {} us, {:.1f} %; overlapping time counts once\n",
                     order.has_steps() ? fmt::format("Steps: {}", order.steps())
                                       : "From the first to the last task",
                     us_text(order.busy_ps()), us_text(order.span_ps()),
                     100 * in_us(order.busy_ps()) / in_us(order.span_ps()));
}

void print_finding(std::ostream& out, const Finding& finding, const ConsoleStyle& style) {
  std::string line = fmt::format("{}: {}", finding.rule, printable(finding.what));
  if (finding.step_share) {
    line += fmt::format("; {:.1f} % of the time that passed", 100 * *finding.step_share);
  }
  out << "  " << (finding.is_warning ? coloured("WARNING ", kYellow, style) : "") << line << '\n';
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, finding.evidence.size()); ++i) {
    const Evidence& one = finding.evidence[i];
    out << "      " << printable(one.text);
    if (!one.at.file.empty()) out << fmt::format(" ({}:{})", printable(one.at.file), one.at.line);
    out << '\n';
  }
  if (!finding.advice.empty()) out << "    advice: " << printable(finding.advice) << '\n';
  if (!finding.tries.empty()) out << "    try: " << printable(finding.tries) << '\n';
}

}  // namespace

void print_findings(std::ostream& out, const std::vector<Finding>& findings, const HotSpots& spots,
                    const CoreCounts& cores, const ConsoleStyle& style) {
  print_order(out, spots.order());
  if (!findings.empty()) out << "\nFindings:\n";
  for (const Finding& finding : findings) print_finding(out, finding, style);
  if (!spots.most_blocks().empty() && cores.cube == 0 && cores.vector == 0) {
    out << "Block dims are not judged: --cores and --vector-cores tell the device's cores\n";
  }
}

Json findings_value(const std::vector<Finding>& findings) {
  Json all = Json::array();
  for (const Finding& finding : findings) {
    Json one = {{"rule", finding.rule},          {"what", printable(finding.what)},
                {"warning", finding.is_warning}, {"share", finding.share},
                {"share_of_steps", nullptr},     {"evidence", Json::array()},
                {"advice", finding.advice},      {"try", finding.tries}};
    if (finding.step_share) one["share_of_steps"] = *finding.step_share;
    for (const Evidence& evidence : finding.evidence) {
      one["evidence"].push_back({{"text", printable(evidence.text)},
                                 {"file", printable(evidence.at.file)},
                                 {"line", evidence.at.line}});
    }
    all.push_back(std::move(one));
  }
  return all;
}

Json order_value(const TaskOrder& order) {
  if (!order.is_known()) return {{"known", false}};
  return {{"known", true},
          {"steps", order.steps()},
          {"span_us", in_us(order.span_ps())},
          {"busy_us", in_us(order.busy_ps())}};
}

}  // namespace opbench
