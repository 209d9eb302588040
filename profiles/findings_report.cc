#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "profiles/finding_rules.h"
#include "profiles/ingest_report.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

// "line 2"; names the file only if there are several.
std::string place_text(const SourceRow& at, const IngestResult& result) {
  if (at.line <= 1) return {};  // the finding is about the whole file, or has no place
  const auto lists_tasks = [](const IngestedFile& file) {
    return file.rows > 0 && file.kind != "op_statistic";
  };
  const auto files = std::count_if(result.files.begin(), result.files.end(), lists_tasks);
  if (files == 1) return fmt::format(" (line {})", at.line);
  return fmt::format(" ({}:{})", printable(at.file.substr(at.file.rfind('/') + 1)), at.line);
}

void print_finding(ReportLines& lines, const Finding& finding, const IngestResult& result) {
  constexpr std::size_t kIndent = 9;
  const double share = finding.shown_share();
  const std::string head =
      finding.step_share || share > 0
          ? fmt::format("{:>6.1f} % {:>6.1f} %", 100 * finding.saves, 100 * share)
          : fmt::format("{:>8} {:>8}", "-", "-");
  const bool is_warning = finding.is_warning;
  lines.text(fmt::format("{} {}{}: {}", head, is_warning ? "WARNING " : "", finding.rule,
                         printable(finding.what)),
             0, kIndent, is_warning ? kYellow : std::string_view());
  const std::size_t shown = is_warning || lines.layout().is_wide ? 3 : 1;
  for (std::size_t i = 0; i < std::min(shown, finding.evidence.size()); ++i) {
    const Evidence& one = finding.evidence[i];
    lines.row(std::string(kIndent + 2, ' '), printable(one.text), place_text(one.at, result));
  }
  if (!finding.estimate.empty() && lines.layout().is_wide) {
    lines.text("saves: " + printable(finding.estimate), kIndent, kIndent + 2);
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
                         : fmt::format("Findings, by what they could save at most of the {}:",
                                       step ? step->whole_name() : "device time"));
    if (is_timed) lines.text(fmt::format("{:>8} {:>8}", "saves", "share"));
  }
  for (const Finding& finding : findings) print_finding(lines, finding, result);
  if (!result.hot_spots.most_blocks().empty() && cores.cube == 0 && cores.vector == 0) {
    lines.text("Block dims are not checked: --cores and --vector-cores state the device's cores", 0,
               2);
  }
}

Json findings_value(const std::vector<Finding>& findings) {
  Json all = Json::array();
  for (const Finding& finding : findings) {
    Json one = {{"rule", finding.rule},          {"what", printable(finding.what)},
                {"warning", finding.is_warning}, {"saves", finding.saves},
                {"estimate", finding.estimate},  {"share", finding.share},
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
  Json host = nullptr;
  if (const HostTime& time = result.trace.host; time.whole_ns() > 0) {
    const auto us = [](std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; };
    host = {{"both_us", us(time.both_ns)},
            {"host_alone_us", us(time.host_alone_ns)},
            {"device_alone_us", us(time.device_alone_ns)},
            {"neither_us", us(time.neither_ns)},
            {"compiling_us", us(time.compiling_ns)},
            {"loading_us", us(time.loading_ns)},
            {"waiting_us", us(time.waiting_ns)}};
  }
  return {{"of", step->whole_name()},
          {"count", step->count},
          {"mean_us", in_us(step->mean_ps)},
          {"whole_us", in_us(step->whole_ps)},
          {"computing_us", in_us(step->computing_ps)},
          {"communication_us", in_us(step->communication_ps)},
          {"communication_alone_us", in_us(step->communication_alone_ps)},
          {"copies_alone_us", in_us(step->copies_alone_ps)},
          {"idle_us", in_us(step->idle_ps())},
          {"host", host}};
}

namespace {

// True for TransData, which hosts also log as Identity.
bool changes_format(const LoggedCall& call) {
  return call.inputs.size() == 1 && call.outputs.size() == 1 &&
         call.inputs[0].storage_format != call.outputs[0].storage_format &&
         (call.op == "Identity" || call.op == "TransData");
}

template <class Wanted>
std::int64_t count_calls(const HostLogs& logs, Wanted wanted) {
  return std::accumulate(logs.calls().begin(), logs.calls().end(), std::int64_t{0},
                         [&](std::int64_t sum, const LoggedCall& call) {
                           return sum + (wanted(call) ? call.count : 0);
                         });
}

std::int64_t truncated(const HostLogs& logs) {
  return count_calls(logs, [](const LoggedCall& call) { return call.is_truncated; });
}

std::string signature(const LoggedCall& call) {
  std::string text;
  for (const auto* side : {&call.inputs, &call.outputs}) {
    if (side == &call.outputs) text += " ->";
    for (const LoggedTensor& tensor : *side) {
      text += fmt::format(" [{}]", fmt::join(tensor.shape, ","));
    }
  }
  return text;
}

void print_calls(ReportLines& lines, const HostLogs& logs) {
  lines.blank();
  lines.text(
      fmt::format("Host calls: {}, {} of them different; {} change the format, cut in the log: {}",
                  count_calls(logs, [](const LoggedCall&) { return true; }), logs.calls().size(),
                  count_calls(logs, changes_format), truncated(logs)));
  std::vector<const LoggedCall*> order;
  for (const LoggedCall& call : logs.calls()) order.push_back(&call);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->count > b->count; });
  for (std::size_t i = 0; i < lines.layout().rows(order.size()); ++i) {
    const std::string name = printable(order[i]->op);
    lines.row(fmt::format("{:>7}  ", order[i]->count),
              lines.layout().is_wide ? name + signature(*order[i]) : name,
              order[i]->is_truncated ? " (cut)" : "");
  }
  lines.rest(order.size());
}

void print_compiles(ReportLines& lines, const HostLogs& logs, std::int64_t steps) {
  std::int64_t compiles = 0;
  double milliseconds = 0;
  for (const CompileBlock& block : logs.blocks()) {
    compiles += block.compiles;
    milliseconds += block.milliseconds;
  }
  std::string text = fmt::format("Compiled: {}", times_text(compiles));
  if (milliseconds > 0) text += fmt::format(" in {:.1f} s", milliseconds / 1e3);
  const std::int64_t marks = std::ssize(logs.blocks()) - 1;
  lines.blank();
  if (marks <= steps) {
    lines.text(
        fmt::format("{}; {} steps are marked, too few to detect dynamic shapes", text, marks));
    return;
  }
  const auto late = logs.compiled_after(steps);
  lines.text(fmt::format("{}; after step {} of {}, a sign of dynamic shapes: {} operators", text,
                         steps, marks, late.size()));
  for (const auto& [op, count] : late) {
    lines.row("  ", printable(op), " in " + counted(count, "step"));
  }
}

Json tensors_value(const std::vector<LoggedTensor>& tensors) {
  Json value = Json::array();
  for (const LoggedTensor& tensor : tensors) {
    value.push_back({{"dtype", tensor.dtype},
                     {"format", tensor.format},
                     {"storage_format", tensor.storage_format},
                     {"shape", tensor.shape},
                     {"storage_shape", tensor.storage_shape},
                     {"memory", tensor.memory},
                     {"const", tensor.is_const}});
  }
  return value;
}

Json call_value(const LoggedCall& call) {
  Json value = {{"op", call.op},
                {"count", call.count},
                {"truncated", call.is_truncated},
                {"attrs", nullptr},
                {"inputs", tensors_value(call.inputs)},
                {"outputs", tensors_value(call.outputs)},
                {"first", {{"file", printable(call.first.file)}, {"line", call.first.line}}}};
  if (call.attrs) value["attrs"] = printable(*call.attrs);
  return value;
}

}  // namespace

void print_logs(ReportLines& lines, const HostLogs& logs, std::int64_t steps) {
  if (!logs.calls().empty()) print_calls(lines, logs);
  if (!logs.blocks().empty()) print_compiles(lines, logs, steps);
}

Json logs_value(const HostLogs& logs, std::int64_t steps) {
  Json calls = Json::array(), blocks = Json::array(), late = Json::array();
  for (const LoggedCall& call : logs.calls()) calls.push_back(call_value(call));
  for (const CompileBlock& block : logs.blocks()) {
    blocks.push_back({{"mark", block.mark},
                      {"ops", block.ops},
                      {"compiles", block.compiles},
                      {"milliseconds", block.milliseconds}});
  }
  for (const auto& [op, count] : logs.compiled_after(steps)) {
    late.push_back({{"op", op}, {"steps", count}});
  }
  return {{"calls", calls}, {"compiled", blocks}, {"compiled_after_step", steps}, {"late", late}};
}

}  // namespace opbench
