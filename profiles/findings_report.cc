#include "profiles/findings_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tensor/printable.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

// "line 2", and the file only where there are several.
std::string place_text(const SourceRow& at, const IngestResult& result) {
  if (at.line <= 1) return {};  // all of the file, or none
  const auto lists_tasks = [](const IngestedFile& file) {
    return file.rows > 0 && file.kind != "op_statistic";
  };
  const auto files = std::count_if(result.files.begin(), result.files.end(), lists_tasks);
  if (files == 1) return fmt::format(" (line {})", at.line);
  return fmt::format(" ({}:{})", printable(at.file.substr(at.file.rfind('/') + 1)), at.line);
}

void print_finding(ReportLines& lines, const Finding& finding, const IngestResult& result) {
  constexpr std::size_t kIndent = 9;
  const double share = finding.step_share.value_or(finding.share);
  const std::string head = finding.step_share || share > 0 ? fmt::format("{:>6.1f} %", 100 * share)
                                                           : fmt::format("{:>8}", "-");
  const bool is_warning = finding.is_warning;
  lines.text(fmt::format("{} {}{}: {}", head, is_warning ? "WARNING " : "", finding.rule,
                         printable(finding.what)),
             0, kIndent, is_warning ? kYellow : std::string_view());
  const std::size_t shown = is_warning || lines.layout().is_wide ? 3 : 1;
  for (std::size_t i = 0; i < std::min(shown, finding.evidence.size()); ++i) {
    const Evidence& one = finding.evidence[i];
    lines.row(std::string(kIndent + 2, ' '), printable(one.text), place_text(one.at, result));
  }
  if (!finding.advice.empty()) {
    lines.text("advice: " + printable(finding.advice), kIndent, kIndent + 2);
  }
  if (!finding.tries.empty()) lines.text("try: " + printable(finding.tries), kIndent, kIndent + 2);
}

}  // namespace

void print_findings(ReportLines& lines, const std::vector<Finding>& findings,
                    const IngestResult& result, const CoreCounts& cores) {
  if (!findings.empty()) {
    lines.blank();
    const std::optional<StepTime> step = step_time(result);
    const bool is_timed = step || result.hot_spots.computing().count > 0;
    lines.text(!is_timed ? "Findings:"
                         : fmt::format("Findings, by their share of the {}:",
                                       step ? step->whole_name() : "device time"));
  }
  for (const Finding& finding : findings) print_finding(lines, finding, result);
  if (!result.hot_spots.most_blocks().empty() && cores.cube == 0 && cores.vector == 0) {
    lines.text("Block dims are not judged: --cores and --vector-cores tell the device's cores", 0,
               2);
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

Json step_value(const IngestResult& result) {
  const std::optional<StepTime> step = step_time(result);
  if (!step) return nullptr;
  return {{"of", step->whole_name()},
          {"count", step->count},
          {"mean_us", in_us(step->mean_ps)},
          {"whole_us", in_us(step->whole_ps)},
          {"computing_us", in_us(step->computing_ps)},
          {"communication_us", in_us(step->communication_ps)},
          {"communication_alone_us", in_us(step->communication_alone_ps)},
          {"copies_alone_us", in_us(step->copies_alone_ps)},
          {"idle_us", in_us(step->idle_ps())}};
}

}  // namespace opbench
