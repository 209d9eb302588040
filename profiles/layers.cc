#include "profiles/layers.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace opbench {
namespace {

// Names of events begin with the layer in trace_view.json and msprof_*.json. Older timelines have a
// process for each layer.
constexpr std::pair<std::string_view, Layer> kLayerNames[] = {
    {"AscendCL", Layer::ascendcl}, {"GE", Layer::ge},
    {"Node", Layer::ge},           {"Model", Layer::ge},
    {"Runtime", Layer::runtime},   {"Task Scheduler", Layer::scheduler},
};

std::optional<Layer> layer_named(std::string_view name) {
  for (const auto& [known, layer] : kLayerNames) {
    if (name == known) return layer;
  }
  return std::nullopt;
}

/// The calls of all threads as stacks.
class LayerWalk {
 public:
  using Owners = std::unordered_map<std::int64_t, std::uint32_t>;

  /// `owners`: the operators that gave the tasks.
  LayerWalk(const std::vector<LayerCall>& calls, const Owners& owners)
      : calls_(calls), owners_(owners) {}

  /// Passes each call, its operator and its time without calls inside to `use`.
  template <class Use>
  void run(Use use) {
    for (const LayerCall& call : calls_) {
      leave(use, [&](const LayerCall& other) {
        return other.thread != call.thread || other.end_ns <= call.start_ns;
      });
      if (!running_.empty()) {
        Running& around = running_.back();
        around.inside_ns += std::min(call.end_ns, around.call->end_ns) - call.start_ns;
      }
      running_.push_back({&call, owner_of(call), 0});
    }
    leave(use, [](const LayerCall&) { return true; });
  }

 private:
  struct Running {
    const LayerCall* call = nullptr;
    std::uint32_t op = 0;
    std::int64_t inside_ns = 0;
  };

  std::uint32_t owner_of(const LayerCall& call) const {
    if (call.op != LayerCall::kNoOperator) return call.op;
    if (call.task >= 0 && !call.is_given) {
      const auto owner = owners_.find(call.task);
      if (owner != owners_.end()) return owner->second;
    }
    return running_.empty() ? LayerCall::kNoOperator : running_.back().op;
  }

  template <class Use, class Done>
  void leave(Use use, Done done) {
    for (; !running_.empty() && done(*running_.back().call); running_.pop_back()) {
      const Running& last = running_.back();
      const std::int64_t whole = last.call->end_ns - last.call->start_ns;
      use(*last.call, last.op, std::max<std::int64_t>(0, whole - last.inside_ns));
    }
  }

  const std::vector<LayerCall>& calls_;
  const Owners& owners_;
  std::vector<Running> running_;
};

}  // namespace

std::optional<Layer> layer_of(const TraceEvent& event, std::string_view process_name) {
  if (!event.task_type.empty()) return std::nullopt;  // a task of the device
  if (event.category == "enqueue" || event.category == "dequeue") return Layer::framework;
  const std::size_t at = event.name.find('@');
  if (at != event.name.npos) return layer_named(event.name.substr(0, at));
  return layer_named(process_name);
}

void add_layer_time(Layer layer, std::uint32_t op, std::int64_t time_ns, TraceProfile& profile) {
  const auto place = static_cast<std::size_t>(layer);
  add_saturated(profile.layers_ns[place], time_ns);
  if (op != LayerCall::kNoOperator) {
    add_saturated(profile.operators()[op].layers_ns[place], time_ns);
  }
}

void attribute_layers(std::vector<LayerCall>& calls, TraceProfile& profile) {
  std::sort(calls.begin(), calls.end(), [](const LayerCall& a, const LayerCall& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.layer < b.layer;
  });
  LayerWalk::Owners owners;
  LayerWalk(calls, owners).run([&](const LayerCall& call, std::uint32_t op, std::int64_t) {
    if (call.is_given && op != LayerCall::kNoOperator) owners[call.task] = op;
  });
  LayerWalk(calls, owners).run([&](const LayerCall& call, std::uint32_t op, std::int64_t own_ns) {
    add_layer_time(call.layer, op, own_ns, profile);
  });
}

}  // namespace opbench
