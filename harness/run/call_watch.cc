#include "harness/run/call_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "judge/judge.h"
#include "tensor/buffer.h"
#include "tensor/element_map.h"
#include "tensor/elements.h"
#include "tensor/fill.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kChanges = 256;  // of a repetition; further calls reuse them
constexpr std::size_t kTargets = 16;
constexpr std::int64_t kChecks = 16;  // of a repetition, in addition to its last call
constexpr std::size_t kNotes = 16, kLeastRecalls = 6;
// Differs from the generation of any repetition.
constexpr std::uint64_t kOtherGeneration = std::uint64_t{1} << 32;

bool has_default_data(const GraphTensor& tensor) {
  return tensor.data == Distribution{} && is_floating(tensor.desc.dtype);
}

// Magnitude of a changed element for operators that combine many elements into one result. The
// change is visible in the result only if the element is as large as the sum of the others.
double outlier(const UnitVariant& variant, const GraphTensor& tensor) {
  constexpr double kLargest = 4096;
  const Problem& problem = variant.graph->nodes[0].problem;
  const bool is_mixed = variant.step == nullptr && problem.op->mixes_elements();
  if (!is_mixed) return 0;
  const double terms =
      static_cast<double>(tensor.desc.elements()) /
      static_cast<double>(std::max<std::int64_t>(1, problem.outputs[0].elements()));
  return std::min(kLargest, 8 * std::sqrt(std::max(1.0, terms)));
}

// Outputs that every call writes completely. Intermediate tensors of a context are left out,
// because they share memory.
std::vector<std::size_t> results_of(const UnitVariant& variant) {
  std::vector<std::size_t> results;
  for (const Node& node : variant.graph->nodes) {
    if (node.unless != Node::kNone) continue;
    for (const std::size_t output : node.outputs) {
      const GraphTensor& tensor = variant.graph->tensors[output];
      const bool is_apart = variant.step == nullptr || tensor.role == GraphTensor::output;
      if (is_apart && tensor.desc.elements() > 0) results.push_back(output);
    }
  }
  return results;
}

// A value that is close to the old one, so that a kernel cannot recognise it, and that differs from
// the result of a repeated call.
std::uint64_t near_bits(std::uint64_t bits, std::size_t bytes, std::uint64_t mask) {
  return bits ^ (bytes == 1 ? 1 : mask);
}

// "second (relu): ", the node of a context that writes a tensor; empty for a case.
std::string writer_of(const UnitVariant& variant, std::size_t tensor) {
  const std::vector<Node>& nodes = variant.graph->nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<std::size_t>& outputs = nodes[i].outputs;
    const bool is_writer = std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
    if (!is_writer || nodes[i].name.empty()) continue;
    return fmt::format("{} ({}): ", nodes[i].name, variant.selection->kernels[i]->name);
  }
  return {};
}

}  // namespace

CallWatch::CallWatch(const UnitVariant& variant, const Workspace& workspace, std::uint64_t seed)
    : variant_(variant),
      workspace_(workspace),
      refill_(variant, workspace, seed),
      results_(results_of(variant)),
      seed_(seed),
      state_(seed | 1) {
  for (std::size_t i = 0; i < variant.graph->tensors.size(); ++i) {
    if (is_free(variant.graph->tensors[i])) inputs_.push_back(i);
  }
}

// xorshift64* (Vigna 2016)
std::uint64_t CallWatch::random() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return state_ * 0x2545F4914F6CDD1D >> 11;
}

WatchedElement CallWatch::element(std::size_t tensor, std::int64_t place) const {
  const TensorDesc& desc = variant_.graph->tensors[tensor].desc;
  const std::size_t bytes = size_of(desc.dtype);
  const auto stored = static_cast<std::size_t>(stored_at(element_map(desc), place));
  return {static_cast<std::byte*>(workspace_.at(variant_, tensor)) + stored * bytes, bytes, tensor,
          place};
}

// A value above most of the normally distributed ones, so that a maximum or a threshold does not
// hide it. Recorded inputs get the value of another element.
std::uint64_t CallWatch::value_of(const WatchedChange& change) const {
  constexpr double kAboveMost = 4;
  const GraphTensor& given = variant_.graph->tensors[change.element.tensor];
  const TensorDesc& desc = given.desc;
  const std::uint64_t seed = variant_.seed_of(change.element.tensor, change.other);
  if (variant_.inputs != nullptr) {
    const auto elements = static_cast<std::uint64_t>(desc.elements());
    return element(change.element.tensor, static_cast<std::int64_t>(change.other % elements))
        .load();
  }
  const ElementRange place{change.element.place, 1};
  std::uint64_t bits = 0;
  if (!has_default_data(given)) {
    generate(given.data, seed, desc.dtype, desc.elements(), place, &bits);
    return bits;
  }
  double value = 0;
  generate(given.data, seed, DType::fp64, desc.elements(), place, &value);
  const double large = outlier(variant_, given);
  value = large > 0 ? large * (1 + std::fabs(value) / 4) : kAboveMost + std::fabs(value);
  from_doubles(desc.dtype, &value, 1, &bits);
  return bits;
}

// Draws several times, because flags and small integers have few distinct values.
WatchedChange CallWatch::draw_change(std::size_t tensor) {
  constexpr int kTries = 4;
  const auto elements = static_cast<std::uint64_t>(variant_.graph->tensors[tensor].desc.elements());
  WatchedChange change{element(tensor, static_cast<std::int64_t>(random() % elements))};
  change.loaded = change.element.load();
  change.other = change.loaded;
  for (int i = 0; i < kTries && change.other == change.loaded; ++i) {
    change.other = random();  // seed of the new value
    change.other = value_of(change);
  }
  return change;
}

void CallWatch::draw_changes(std::int64_t calls) {
  if (inputs_.empty()) return;
  const auto wanted = static_cast<std::size_t>(std::clamp<std::int64_t>(calls, 1, kChanges));
  const std::size_t first = random() % inputs_.size();
  for (std::size_t k = 0; k < wanted; ++k) {
    changes_.push_back(draw_change(inputs_[(first + k) % inputs_.size()]));
  }
  current_ = changes_.size() - 1;
}

// `undo` of a change that is not in place writes the value that is already there.
void CallWatch::undo_changes() {
  for (const WatchedChange& change : changes_) change.undo();
  changes_.clear();
}

void CallWatch::refill() {
  if (variant_.step == nullptr) put({generation_ + 1, {}});
}

void CallWatch::begin(std::int64_t calls) {
  undo_changes();
  draw_changes(calls);
  calls_ = calls_left_ = calls;
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
    const std::int64_t elements = variant_.graph->tensors[tensor].desc.elements();
    targets_.push_back(element(
        tensor, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(elements))));
  }
}

void CallWatch::note() {
  const bool is_after_another = calls_ > 1 && current() != nullptr;
  if (variant_.step != nullptr || !missed_.empty() || !is_after_another) return;
  if (notes_.size() == kNotes) notes_.erase(notes_.begin());
  notes_.push_back({{generation_, {*current()}}, results()});
}

// For repetitions of a single call: they do not test inputs that are almost equal to those of the
// previous call.
void CallWatch::call_after_small_changes(const std::function<void()>& call) {
  if (notes_.size() >= kLeastRecalls || inputs_.empty()) return;
  begin(kLeastRecalls);
  for (std::size_t i = 0; i < changes_.size() && notes_.size() < kLeastRecalls; ++i) {
    changes_[i].apply();
    call();
    const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    notes_.push_back({{generation_, {changes_.begin(), end}}, results()});
  }
}

TimedInputs CallWatch::inputs() const {
  TimedInputs inputs{generation_, {}};
  for (const WatchedChange& change : changes_) {
    if (change.element.load() == change.other) inputs.changes.push_back(change);
  }
  return inputs;
}

void CallWatch::put(const TimedInputs& inputs) {
  undo_changes();
  generation_ = inputs.generation;
  refill_.put(generation_);
  changes_ = inputs.changes;
  for (WatchedChange& change : changes_) {
    change.element = element(change.element.tensor, change.element.place);
    change.apply();
  }
  current_ = 0;
}

// Other values are put in between. A kernel that compares a part of the inputs with those of its
// last call would find a difference.
bool CallWatch::repeats_its_results(const std::function<void()>& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  call_after_small_changes(call);
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (i >= kLeastRecalls && spent.count() > seconds) break;
    const Note& noted = notes_[notes_.size() - 1 - i];
    if (noted.inputs.generation == generation_) {
      put({kOtherGeneration + i, {}});
      call();
    }
    put(noted.inputs);
    call();
    if (results() != noted.results) return false;
  }
  return true;
}

std::uint64_t CallWatch::results() const {
  std::uint64_t bits = 0;
  for (const std::size_t tensor : results_) {
    const TensorDesc& desc = variant_.graph->tensors[tensor].desc;
    bits = bits * 31 ^ elements_fingerprint(desc, workspace_.at(variant_, tensor));
  }
  return bits;
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
  // The result may be equal to the overwritten value by chance. A second call with another start
  // value decides.
  spoilt_.store(near_bits(spoilt_bits_, spoilt_.bytes, 0x4A));
  call();
  if (spoilt_.load() == spoilt_bits_) return true;
  const GraphTensor& tensor = variant_.graph->tensors[spoilt_.tensor];
  missed_ = fmt::format("{}a timed call left {} of '{}' as it was before the call",
                        writer_of(variant_, spoilt_.tensor),
                        index_text(tensor.desc.shape, spoilt_.place), tensor.name);
  return false;
}

std::uint64_t elements_fingerprint(const TensorDesc& desc, const void* storage) {
  const std::size_t size = size_of(desc.dtype);
  if (desc.bytes() == static_cast<std::size_t>(desc.elements()) * size) {
    return checksum(storage, desc.bytes());
  }
  std::vector<std::uint64_t> parts(static_cast<std::size_t>(block_count(desc)));
  parallel_blocks(std::ssize(parts), [&](std::int64_t i) {
    const ElementRange range = block(desc, i);
    thread_local std::vector<std::byte> elements;
    elements.resize(static_cast<std::size_t>(range.count) * size);
    read_elements(desc, storage, range, elements.data());
    parts[static_cast<std::size_t>(i)] = checksum(elements.data(), elements.size());
  });
  return checksum(parts.data(), parts.size() * sizeof(parts[0]));
}

}  // namespace opbench
