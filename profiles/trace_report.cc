#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiles/ingest_report.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::int64_t idle_ps(const TraceStep& step) {
  return std::max<std::int64_t>(0, step.duration_ps * step.devices - step.busy.computing_ps -
                                       step.busy.communication_ps - step.busy.copies_ps);
}

void print_steps(ReportLines& lines, const TraceProfile& trace) {
  if (trace.steps.empty()) {
    if (trace.kernels == 0) return;
    lines.text(fmt::format(
        "No steps are marked: computing {} us, communication alone {} us, copies alone {} us; "
        "overlapping time counts once",
        us_text(trace.busy.computing_ps), us_text(trace.busy.communication_ps),
        us_text(trace.busy.copies_ps)));
    return;
  }
  lines.row(
      fmt::format("{:>13} {:>9} {:>8} {:>8} {:>7}  ", "us", "computing", "comm.", "copies", "idle"),
      "step; comm., copies: alone");
  std::int64_t computing = 0;
  for (const TraceStep& step : trace.steps) add_saturated(computing, step.busy.computing_ps);
  for (std::size_t i = 0; i < lines.layout().rows(trace.steps.size()); ++i) {
    const TraceStep& step = trace.steps[i];
    const std::int64_t whole = step.duration_ps * step.devices;
    lines.row(fmt::format("{:>13} {:>8.2f}% {:>7.2f}% {:>7.2f}% {:>6.2f}%  ",
                          us_text(step.duration_ps), percent(step.busy.computing_ps, whole),
                          percent(step.busy.communication_ps, whole),
                          percent(step.busy.copies_ps, whole), percent(idle_ps(step), whole)),
              printable(step.name));
  }
  lines.rest(trace.steps.size());
  if (trace.busy.computing_ps > computing) {
    lines.text(fmt::format("Outside of steps: computing {} us",
                           us_text(trace.busy.computing_ps - computing)));
  }
}

void print_others(ReportLines& lines, const TraceProfile& trace) {
  if (trace.others.empty()) return;
  std::string text = "Neither computing nor communication:";
  for (const auto& [name, time] : trace.others) {
    text += fmt::format(" {} {} in {} us,", time.count, printable(name), us_text(time.total_ps));
  }
  text.pop_back();
  lines.text(text, 0, 2);
}

void print_host_operators(ReportLines& lines, const TraceProfile& trace) {
  const std::vector<const TraceOperator*> order = trace.by_time();
  if (order.empty()) return;
  const bool is_wide = lines.layout().is_wide;
  lines.blank();
  lines.row(fmt::format("{:>13} {:>7} {:>13} {:>7} {:>7}  ", "device us", "of step", "host self us",
                        "calls", "kernels"),
            "operator of the host");
  for (std::size_t i = 0; i < lines.layout().rows(order.size()); ++i) {
    const TraceOperator& one = *order[i];
    const std::string share =
        trace.steps.empty() ? "-" : fmt::format("{:.2f}%", 100 * trace.step_share(one.step_ps));
    lines.row(
        fmt::format("{:>13} {:>7} {:>13.3f} {:>7} {:>7}  ",
                    us_text(one.kernels.total_ps + one.copies.total_ps), share,
                    static_cast<double>(one.host_self_ns) / 1e3, one.calls, one.kernels.count),
        printable(is_wide ? signature(one) : one.name));
  }
  lines.rest(order.size());
}

Json busy_value(const BusyTime& busy) {
  return {{"computing_us", in_us(busy.computing_ps)},
          {"communication_alone_us", in_us(busy.communication_ps)},
          {"communication_overlapped_us", in_us(busy.overlapped_ps)},
          {"copies_alone_us", in_us(busy.copies_ps)}};
}

Json host_operator_value(const TraceOperator& one, const TraceProfile& trace) {
  Json value = {{"name", printable(one.name)},
                {"calls", one.calls},
                {"calls_with_kernels", one.launching},
                {"kernels", one.kernels.count},
                {"kernels_us", in_us(one.kernels.total_ps)},
                {"copies", one.copies.count},
                {"copies_us", in_us(one.copies.total_ps)},
                {"step_us", in_us(one.step_ps)},
                {"step_share", nullptr},
                {"host_self_us", static_cast<double>(one.host_self_ns) / 1e3},
                {"layers", nullptr},
                {"memory", memory_value(one.memory)},
                {"inputs", nullptr},
                {"first", {{"file", printable(one.first.file)}, {"line", one.first.line}}}};
  if (!trace.steps.empty()) value["step_share"] = trace.step_share(one.step_ps);
  if (trace.has_layers) value["layers"] = layers_value(one.layers_ns);
  if (one.has_shapes) {
    value["inputs"] = {{"shapes", printable(one.input_shapes)},
                       {"dtypes", printable(one.input_dtypes)},
                       {"values", nullptr}};
    if (!one.input_values.empty()) value["inputs"]["values"] = printable(one.input_values);
  }
  return value;
}

}  // namespace

std::string signature(const TraceOperator& one) {
  if (!one.has_shapes) return one.name + ", shapes unknown";
  return fmt::format("{} {} {}", one.name, one.input_shapes, one.input_dtypes);
}

void print_trace(ReportLines& lines, const TraceProfile& trace) {
  if (trace.is_empty()) return;
  lines.blank();
  if (trace.host_operators > 0) {
    std::string text = fmt::format("Operators of the host: {}, {} with shapes",
                                   trace.host_operators, trace.host_operators_with_shapes);
    if (trace.kernels > 0) {
      text += fmt::format("; {} of {} kernels belong to one", trace.linked_kernels, trace.kernels);
    }
    lines.text(text);
  }
  print_steps(lines, trace);
  print_others(lines, trace);
  print_host_operators(lines, trace);
  print_memory(lines, trace);
  print_layers(lines, trace);
}

Json trace_value(const TraceProfile& trace) {
  if (trace.is_empty()) return nullptr;
  Json value = {{"events", trace.events},
                {"phases", counts_value(trace.phases)},
                {"categories", counts_value(trace.categories)},
                {"host_operators", trace.host_operators},
                {"host_operators_with_shapes", trace.host_operators_with_shapes},
                {"kernels", trace.kernels},
                {"linked_kernels", trace.linked_kernels},
                {"kernels_without_row", trace.kernels_without_row},
                {"busy", busy_value(trace.busy)},
                {"layers", nullptr},
                {"steps", Json::array()},
                {"others", Json::object()},
                {"operators", Json::array()}};
  if (trace.has_layers) value["layers"] = layers_value(trace.layers_ns);
  for (const TraceStep& step : trace.steps) {
    Json one = {{"name", printable(step.name)},
                {"file", printable(step.file)},
                {"duration_us", in_us(step.duration_ps)},
                {"devices", step.devices}};
    one.update(busy_value(step.busy));
    one["idle_us"] = in_us(idle_ps(step));
    value["steps"].push_back(std::move(one));
  }
  for (const auto& [name, time] : trace.others) {
    value["others"][printable(name)] = {{"count", time.count}, {"total_us", in_us(time.total_ps)}};
  }
  for (const TraceOperator* one : trace.by_time()) {
    value["operators"].push_back(host_operator_value(*one, trace));
  }
  return value;
}

}  // namespace opbench
