#include "ingest/log_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

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
  return text + (call.is_truncated ? " (cut)" : "");
}

void print_calls(std::ostream& out, const HostLogs& logs, std::size_t top) {
  out << fmt::format("\nHost calls: {}, {} of them different; {} change the format, {} are cut\n",
                     count_calls(logs, [](const LoggedCall&) { return true; }), logs.calls().size(),
                     count_calls(logs, changes_format), truncated(logs));
  std::vector<const LoggedCall*> order;
  for (const LoggedCall& call : logs.calls()) order.push_back(&call);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->count > b->count; });
  const std::size_t shown = top == 0 ? order.size() : std::min(top, order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    out << fmt::format("{:>7}  {}{}\n", order[i]->count, order[i]->op, signature(*order[i]));
  }
  if (order.size() > shown) out << fmt::format("  and {} more\n", order.size() - shown);
}

void print_compiles(std::ostream& out, const HostLogs& logs, std::int64_t steps) {
  std::int64_t compiles = 0;
  double milliseconds = 0;
  for (const CompileBlock& block : logs.blocks()) {
    compiles += block.compiles;
    milliseconds += block.milliseconds;
  }
  out << fmt::format("\nCompiled: {} times", compiles);
  if (milliseconds > 0) out << fmt::format(" in {:.1f} s", milliseconds / 1e3);
  const std::int64_t marks = std::ssize(logs.blocks()) - 1;
  if (marks <= steps) {
    out << fmt::format("; {} steps are marked, too few to tell dynamic shapes\n", marks);
    return;
  }
  const auto late = logs.compiled_after(steps);
  out << fmt::format("; after step {} of {}, a sign of dynamic shapes: {} operators\n", steps,
                     marks, late.size());
  for (const auto& [op, count] : late) out << fmt::format("  {} in {} steps\n", op, count);
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

void print_logs(std::ostream& out, const HostLogs& logs, std::int64_t steps, std::size_t top) {
  if (!logs.calls().empty()) print_calls(out, logs, top);
  if (!logs.blocks().empty()) print_compiles(out, logs, steps);
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
