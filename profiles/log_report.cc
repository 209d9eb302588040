#include "profiles/log_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "profiles/finding_rules.h"
#include "tensor/printable.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

// TransData, which hosts also log as Identity.
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
      fmt::format("Host calls: {}, {} of them different; {} change the format, the log cut {}",
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
    lines.text(fmt::format("{}; {} steps are marked, too few to tell dynamic shapes", text, marks));
    return;
  }
  const auto late = logs.compiled_after(steps);
  lines.text(fmt::format("{}; after step {} of {}, a sign of dynamic shapes: {} operators", text,
                         steps, marks, late.size()));
  for (const auto& [op, count] : late) {
    lines.row("  ", printable(op), fmt::format(" in {} {}", count, count == 1 ? "step" : "steps"));
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
