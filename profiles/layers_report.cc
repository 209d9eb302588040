// The layers and the memory of operators of the host, in traces and printed tables.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "profiles/ingest_report.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kLayerHeads[kLayers] = {"framework", "AscendCL",  "GE",
                                                   "runtime",   "scheduler", "device"};

using NamedLayers = std::pair<std::string, LayerTimes>;

// The time of a host and a device that were busy: tasks wait in the scheduler at the same time.
std::int64_t busy_of(const LayerTimes& times) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kLayers; ++i) {
    if (i != static_cast<std::size_t>(Layer::scheduler)) add_saturated(sum, times[i]);
  }
  return sum;
}

std::vector<NamedLayers> layers_by_name(const TraceProfile& trace) {
  std::map<std::string, LayerTimes> sums;
  for (const TraceOperator& one : trace.operators()) {
    LayerTimes& sum = sums[one.name];
    for (std::size_t i = 0; i < kLayers; ++i) add_saturated(sum[i], one.layers_ns[i]);
  }
  std::vector<NamedLayers> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](const NamedLayers& a, const NamedLayers& b) {
    return busy_of(a.second) > busy_of(b.second);
  });
  return order;
}

bool has_device_memory(const TraceOperator& one) {
  return one.memory && (one.memory->device != 0 || one.memory->device_self != 0);
}

}  // namespace

void print_memory(ReportLines& lines, const TraceProfile& trace) {
  std::vector<const TraceOperator*> order;
  bool has_device = false;
  for (const TraceOperator& one : trace.operators()) {
    if (one.memory) order.push_back(&one);
    has_device |= has_device_memory(one);
  }
  if (order.empty()) return;
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const auto self = [](const OperatorMemory& of) { return of.device_self + of.host_self; };
    return self(*a->memory) > self(*b->memory);
  });
  const auto cells = [&](auto host, auto self, auto device, auto device_self) {
    std::string text = fmt::format("{:>12} {:>12}", host, self);
    if (has_device) text += fmt::format(" {:>12} {:>12}", device, device_self);
    return text + "  ";
  };
  lines.blank();
  lines.row(cells("host memory", "self", "device mem.", "self"), "operator of the host");
  for (std::size_t i = 0; i < lines.layout().rows(order.size()); ++i) {
    const OperatorMemory& of = *order[i]->memory;
    const auto size = [](std::int64_t bytes) {
      const auto absolute = static_cast<double>(bytes);
      return (bytes < 0 ? "-" : "") + byte_size_text(bytes < 0 ? -absolute : absolute);
    };
    lines.row(cells(size(of.host), size(of.host_self), size(of.device), size(of.device_self)),
              printable(lines.layout().is_wide ? signature(*order[i]) : order[i]->name));
  }
  lines.rest(order.size());
}

void print_layers(ReportLines& lines, const TraceProfile& trace) {
  if (!trace.has_layers) return;
  const std::vector<NamedLayers> order = layers_by_name(trace);
  const auto print = [&](const LayerTimes& times, std::string_view name) {
    std::string cells;
    for (const std::int64_t time : times) {
      cells += fmt::format("{:>9.1f} ", static_cast<double>(time) / 1e3);
    }
    lines.row(cells + " ", name);
  };
  lines.blank();
  lines.text(
      "Layers: us in each without calls inside; in the scheduler from launch to start, where tasks "
      "wait for each other:",
      0, 2);
  std::string head;
  for (const std::string_view name : kLayerHeads) head += fmt::format("{:>9} ", name);
  lines.row(head + " ", "operator");
  print(trace.layers_ns, "all");
  for (std::size_t i = 0; i < lines.layout().rows(order.size()); ++i) {
    print(order[i].second, printable(order[i].first));
  }
  lines.rest(order.size());
}

Json layers_value(const LayerTimes& times) {
  Json value = Json::object();
  for (std::size_t i = 0; i < kLayers; ++i) {
    value[in_lower_case(std::string(kLayerHeads[i])) + "_us"] = static_cast<double>(times[i]) / 1e3;
  }
  return value;
}

Json memory_value(const std::optional<OperatorMemory>& memory) {
  if (!memory) return nullptr;
  return {{"host_bytes", memory->host},
          {"host_self_bytes", memory->host_self},
          {"device_bytes", memory->device},
          {"device_self_bytes", memory->device_self}};
}

}  // namespace opbench
