#include "harness/run/call_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/judge/judge.h"
#include "tensor/element_walk.h"
#include "tensor/elements.h"
#include "tensor/fill.h"

namespace opbench {
namespace {

constexpr std::size_t kChanges = 16, kTargets = 16;
constexpr std::int64_t kChecks = 16;  // of a repetition, and its last call

// Values of which another may stand in any place.
bool is_free(const Distribution& data) {
  return data.kind == DistributionKind::normal || data.kind == DistributionKind::uniform ||
         data.kind == DistributionKind::integers;
}

bool can_change(const GraphTensor& tensor) {
  const bool is_given = tensor.role == GraphTensor::input || tensor.role == GraphTensor::parameter;
  return is_given && tensor.desc.elements() > 0 && is_free(tensor.data);
}

// Where an operator makes one result of many elements, one of them shows only if it is as large as
// what the others come to.
double outlier(const Runnable& runnable, const GraphTensor& tensor) {
  constexpr double kLargest = 4096;
  const Problem& problem = runnable.graph->nodes[0].problem;
  const bool is_mixed = runnable.step == nullptr && problem.op->mixes_elements &&
                        tensor.data == Distribution{} && is_floating(tensor.desc.dtype);
  if (!is_mixed) return 0;
  const double terms =
      static_cast<double>(tensor.desc.elements()) /
      static_cast<double>(std::max<std::int64_t>(1, problem.outputs[0].elements()));
  return std::min(kLargest, 8 * std::sqrt(std::max(1.0, terms)));
}

// Every call writes all of them; in a context only outputs have a place that nothing else uses.
std::vector<std::size_t> results_of(const Runnable& runnable) {
  std::vector<std::size_t> results;
  for (const Node& node : runnable.graph->nodes) {
    if (node.unless != Node::kNone) continue;
    for (const std::size_t output : node.outputs) {
      const GraphTensor& tensor = runnable.graph->tensors[output];
      const bool is_apart = runnable.step == nullptr || tensor.role == GraphTensor::output;
      if (is_apart && tensor.desc.elements() > 0) results.push_back(output);
    }
  }
  return results;
}

// As near as no pattern gives it away, and not what a call would round to.
std::uint64_t near_bits(std::uint64_t bits, std::size_t bytes, std::uint64_t mask) {
  return bits ^ (bytes == 1 ? 1 : mask);
}

// "second (relu): ", the node of a context that writes a tensor; empty for a case.
std::string writer_of(const Runnable& runnable, std::size_t tensor) {
  const std::vector<Node>& nodes = runnable.graph->nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<std::size_t>& outputs = nodes[i].outputs;
    const bool is_writer = std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
    if (!is_writer || nodes[i].name.empty()) continue;
    return fmt::format("{} ({}): ", nodes[i].name, runnable.selection->kernels[i]->name);
  }
  return {};
}

}  // namespace

CallWatch::CallWatch(const Runnable& runnable, const Workspace& workspace, std::uint64_t seed,
                     std::uint64_t generation)
    : runnable_(runnable),
      workspace_(workspace),
      results_(results_of(runnable)),
      seed_(seed),
      generation_(generation),
      state_(seed | 1) {
  add_changes();
  renew();
}

// xorshift64*, Vigna 2016
std::uint64_t CallWatch::random() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return state_ * 0x2545F4914F6CDD1D >> 11;
}

WatchedElement CallWatch::element(std::size_t tensor, std::int64_t place) const {
  const TensorDesc& desc = runnable_.graph->tensors[tensor].desc;
  const std::size_t bytes = size_of(desc.dtype);
  const auto stored = static_cast<std::size_t>(stored_at(element_map(desc), place));
  return {static_cast<std::byte*>(workspace_.at(runnable_, tensor)) + stored * bytes, bytes, tensor,
          place};
}

void CallWatch::add_changes() {
  std::vector<std::size_t> tensors;
  for (std::size_t i = 0; i < runnable_.graph->tensors.size(); ++i) {
    if (can_change(runnable_.graph->tensors[i])) tensors.push_back(i);
  }
  if (tensors.empty()) return;
  for (std::size_t k = 0; k < std::max(kChanges, tensors.size()); ++k) {
    const std::size_t tensor = tensors[k % tensors.size()];
    const auto elements =
        static_cast<std::uint64_t>(runnable_.graph->tensors[tensor].desc.elements());
    const WatchedElement place = element(tensor, static_cast<std::int64_t>(random() % elements));
    changes_.push_back({place, place.load()});
  }
}

// A place that was drawn twice has the same value both times.
std::uint64_t CallWatch::value_of(const WatchedElement& element, std::uint64_t generation) const {
  const GraphTensor& given = runnable_.graph->tensors[element.tensor];
  const TensorDesc& desc = given.desc;
  std::uint64_t bits = 0;
  if (const double value = outlier(runnable_, given); value != 0) {
    const double another = value * (1 + static_cast<double>(generation % 16) / 16);
    from_doubles(desc.dtype, &another, 1, &bits);
  } else {
    const std::uint64_t seed = ~seed_ + 0x9E3779B97F4A7C15 * generation;
    generate(given.data, runnable_.seed_of(element.tensor, seed), desc.dtype, desc.elements(),
             {element.place, 1}, &bits);
  }
  return bits;
}

void CallWatch::renew() {
  for (Change& change : changes_) {
    change.other = value_of(change.element, 2 * generation_);
    change.last = value_of(change.element, 2 * generation_ + 1);
  }
}

void CallWatch::begin(std::int64_t calls) {
  ++generation_;
  renew();
  calls_left_ = calls;
  longest_gap_ = std::max<std::int64_t>(1, calls / kChecks);
  until_check_ = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest_gap_));
  is_spoilt_ = false;
  choose_results();
}

void CallWatch::choose_results() {
  targets_.clear();
  if (results_.empty()) return;
  for (std::size_t k = 0; k < std::max(kTargets, results_.size()); ++k) {
    const std::size_t tensor = results_[k % results_.size()];
    const std::int64_t elements = runnable_.graph->tensors[tensor].desc.elements();
    targets_.push_back(element(
        tensor, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(elements))));
  }
}

void CallWatch::change_all() {
  for (Change& change : changes_) {
    change.is_other = true;
    change.element.store(change.last);
  }
}

void CallWatch::restore() {
  for (Change& change : changes_) {
    change.is_other = false;
    change.element.store(change.loaded);
  }
}

void CallWatch::spoil() {
  if (targets_.empty()) return;
  spoilt_ = targets_[random() % targets_.size()];
  spoilt_bits_ = near_bits(spoilt_.load(), spoilt_.bytes, 0x25);
  spoilt_.store(spoilt_bits_);
  is_spoilt_ = true;
  until_check_ = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest_gap_));
}

bool CallWatch::is_written(const std::function<void()>& call) {
  is_spoilt_ = false;
  if (spoilt_.load() != spoilt_bits_) return true;
  // The result may be that very value. Then it is again, wherever it starts from.
  spoilt_.store(near_bits(spoilt_bits_, spoilt_.bytes, 0x4A));
  call();
  if (spoilt_.load() == spoilt_bits_) return true;
  const GraphTensor& tensor = runnable_.graph->tensors[spoilt_.tensor];
  missed_ = fmt::format("{}a timed call left {} of '{}' as it was before the call",
                        writer_of(runnable_, spoilt_.tensor),
                        index_text(tensor.desc.shape, spoilt_.place), tensor.name);
  return false;
}

}  // namespace opbench
