#include "ingest/trace_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tensor/printable.h"
#include "text/excerpt.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

std::size_t shown(std::size_t all, std::size_t top) { return top == 0 ? all : std::min(all, top); }

void print_rest(std::ostream& out, std::size_t all, std::size_t top) {
  if (all > shown(all, top)) out << fmt::format("  and {} more\n", all - shown(all, top));
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::int64_t idle_ps(const TraceStep& step) {
  return std::max<std::int64_t>(0, step.duration_ps * step.devices - step.busy.computing_ps -
                                       step.busy.communication_ps - step.busy.copies_ps);
}

void print_steps(std::ostream& out, const TraceProfile& trace, std::size_t top) {
  if (trace.steps.empty()) {
    if (trace.kernels == 0) return;
    out << fmt::format(
        "No steps are marked: computing {} us, communication alone {} us, copies alone {} us; what "
        "overlaps counts once\n",
        us_text(trace.busy.computing_ps), us_text(trace.busy.communication_ps),
        us_text(trace.busy.copies_ps));
    return;
  }
  out << fmt::format(
      "{:<24} {:>13} {:>9} {:>13} {:>13} {:>7}  of the step; what overlaps counts once\n", "step",
      "us", "computing", "comm. alone", "copies alone", "idle");
  std::int64_t computing = 0;
  for (const TraceStep& step : trace.steps) add_saturated(computing, step.busy.computing_ps);
  for (std::size_t i = 0; i < shown(trace.steps.size(), top); ++i) {
    const TraceStep& step = trace.steps[i];
    const std::int64_t whole = step.duration_ps * step.devices;
    out << fmt::format("{:<24} {:>13} {:>8.2f}% {:>12.2f}% {:>12.2f}% {:>6.2f}%\n",
                       printable(step.name), us_text(step.duration_ps),
                       percent(step.busy.computing_ps, whole),
                       percent(step.busy.communication_ps, whole),
                       percent(step.busy.copies_ps, whole), percent(idle_ps(step), whole));
  }
  print_rest(out, trace.steps.size(), top);
  if (trace.busy.computing_ps > computing) {
    out << fmt::format("Outside of steps: computing {} us\n",
                       us_text(trace.busy.computing_ps - computing));
  }
}

void print_others(std::ostream& out, const TraceProfile& trace) {
  if (trace.others.empty()) return;
  out << "Neither computing nor communication:";
  bool is_first = true;
  for (const auto& [name, time] : trace.others) {
    out << fmt::format("{} {} {} in {} us", is_first ? "" : ",", time.count, printable(name),
                       us_text(time.total_ps));
    is_first = false;
  }
  out << '\n';
}

void print_operators(std::ostream& out, const TraceProfile& trace, std::size_t top) {
  const std::vector<const TraceOperator*> order = trace.by_time();
  if (order.empty()) return;
  out << fmt::format("\n{:>13} {:>7} {:>13} {:>7} {:>7}  operator of the host\n", "device us",
                     "of step", "host self us", "calls", "kernels");
  for (std::size_t i = 0; i < shown(order.size(), top); ++i) {
    const TraceOperator& one = *order[i];
    const std::string share =
        trace.steps.empty() ? "-" : fmt::format("{:.2f}%", 100 * trace.step_share(one.step_ps));
    out << fmt::format("{:>13} {:>7} {:>13.3f} {:>7} {:>7}  {}\n",
                       us_text(one.kernels.total_ps + one.copies.total_ps), share,
                       static_cast<double>(one.host_self_ns) / 1e3, one.calls, one.kernels.count,
                       printable(signature(one)));
  }
  print_rest(out, order.size(), top);
}

Json busy_value(const BusyTime& busy) {
  return {{"computing_us", in_us(busy.computing_ps)},
          {"communication_alone_us", in_us(busy.communication_ps)},
          {"copies_alone_us", in_us(busy.copies_ps)}};
}

Json operator_value(const TraceOperator& one, const TraceProfile& trace) {
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
                {"inputs", nullptr},
                {"first", {{"file", printable(one.first.file)}, {"line", one.first.line}}}};
  if (!trace.steps.empty()) value["step_share"] = trace.step_share(one.step_ps);
  if (one.has_shapes) {
    value["inputs"] = {{"shapes", printable(one.input_shapes)},
                       {"dtypes", printable(one.input_dtypes)},
                       {"values", nullptr}};
    if (!one.input_values.empty()) value["inputs"]["values"] = printable(one.input_values);
  }
  return value;
}

Json counts_value(const std::map<std::string, std::int64_t>& counts) {
  Json value = Json::object();
  for (const auto& [name, count] : counts) value[printable(name)] = count;
  return value;
}

}  // namespace

std::string signature(const TraceOperator& one) {
  constexpr std::size_t kLongest = 160;
  if (!one.has_shapes) return one.name + ", shapes unknown";
  return excerpt(fmt::format("{} {} {}", one.name, one.input_shapes, one.input_dtypes), kLongest);
}

void print_trace(std::ostream& out, const TraceProfile& trace, std::size_t top) {
  if (trace.is_empty()) return;
  out << '\n';
  if (trace.host_operators > 0) {
    out << fmt::format("Operators of the host: {}, {} with shapes", trace.host_operators,
                       trace.host_operators_with_shapes);
    if (trace.kernels > 0) {
      out << fmt::format("; {} of {} kernels belong to one", trace.linked_kernels, trace.kernels);
    }
    out << '\n';
  }
  print_steps(out, trace, top);
  print_others(out, trace);
  print_operators(out, trace, top);
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
                {"steps", Json::array()},
                {"others", Json::object()},
                {"operators", Json::array()}};
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
    value["operators"].push_back(operator_value(*one, trace));
  }
  return value;
}

}  // namespace opbench
