#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "harness/run/input_values.h"
#include "harness/run/unit_variant.h"
#include "harness/run/workspace.h"

namespace opbench {

/// One element of a tensor in memory, as bits.
struct WatchedElement {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  std::size_t tensor = 0;
  std::int64_t place = 0;  ///< logical

  std::uint64_t load() const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, bytes);
    return bits;
  }
  void store(std::uint64_t bits) const { std::memcpy(at, &bits, bytes); }
};

/// An element of an input that holds another value than was loaded.
struct WatchedChange {
  WatchedElement element;
  std::uint64_t loaded = 0, other = 0;

  void apply() const { element.store(other); }
  void undo() const { element.store(loaded); }
};

/// What a timed call's inputs hold beside the values that were loaded.
struct TimedInputs {
  std::uint64_t generation = 0;  ///< of InputRefill
  std::vector<WatchedChange> changes;
};

/// Makes every timed call one that is checked, for the price of two stores: before each, an element
/// of what the graph is given takes another value, in a place and with a value that nothing could
/// know, and the one before is as it was. Before some, at random, an element of a result is
/// overwritten with a near value, and a call that leaves it there is none. All inputs of a case
/// take other values before every repetition. Nothing tells the last call, which is judged, from
/// those before.
///
/// Order: for each repetition refill (if wanted) and begin; then for each call before, the call,
/// after; then note (if wanted); at the end repeats_its_results (if there are notes) and restore.
class CallWatch {
 public:
  /// The variant's values of `seed` are loaded. Both must outlive it.
  CallWatch(const UnitVariant& variant, const Workspace& workspace, std::uint64_t seed);

  /// Other values in all inputs of a case, which nothing before has seen. A context's are loaded
  /// anew for every round.
  void refill();

  /// So many calls follow, with new places and values.
  void begin(std::int64_t calls);

  void before() {
    change_next();
    --calls_left_;
    --until_check_;
    if (calls_left_ == 0 || until_check_ == 0) spoil();
  }

  /// False if the call has left an element of a result as it was. `call` repeats it, for certainty.
  bool after(const std::function<void()>& call) { return !is_spoilt_ || is_written(call); }

  /// What a call left undone; empty if none did.
  const std::string& missed() const { return missed_; }

  /// Another input of the same kind.
  void change_next() {
    if (changes_.empty()) return;
    changes_[current_].undo();
    if (++current_ == changes_.size()) current_ = 0;
    changes_[current_].apply();
  }
  /// The change that is in place; null: none.
  const WatchedChange* current() const { return changes_.empty() ? nullptr : &changes_[current_]; }

  /// Remembers the fingerprint of what the last call of a repetition left, unless it was the only.
  void note();

  /// Brings noted inputs back, after others, and calls again: every call must leave the bits that
  /// it left before. At least some of them, more for up to `seconds`. For kernels whose bits
  /// repeat.
  bool repeats_its_results(const std::function<void()>& call, double seconds);

  /// What is in place now.
  TimedInputs inputs() const;

  /// Brings that back, on the same values loaded, in another watch, too.
  void put(const TimedInputs& inputs);

  /// The inputs as they were loaded.
  void restore() { put({}); }

 private:
  struct Note {
    TimedInputs inputs;
    std::uint64_t results = 0;
  };

  std::uint64_t value_of(const WatchedChange& change) const;
  WatchedChange draw_change(std::size_t tensor);
  void draw_changes(std::int64_t calls);
  void choose_results();
  void spoil();
  bool is_written(const std::function<void()>& call);
  void call_after_small_changes(const std::function<void()>& call);
  void undo_changes();
  std::uint64_t results() const;
  WatchedElement element(std::size_t tensor, std::int64_t place) const;
  std::uint64_t random();

  const UnitVariant& variant_;
  const Workspace& workspace_;
  InputRefill refill_;
  std::vector<std::size_t> results_;  // tensors that every call writes
  std::vector<std::size_t> inputs_;   // in which values may change
  std::vector<WatchedChange> changes_;
  std::size_t current_ = 0;
  std::vector<WatchedElement> targets_;  // of results, anew for each repetition
  const std::uint64_t seed_;
  std::uint64_t generation_ = 0;
  std::uint64_t state_;
  std::int64_t calls_ = 0, calls_left_ = 0;  // of this repetition
  std::int64_t until_check_ = 0, longest_gap_ = 1;
  WatchedElement spoilt_;
  std::uint64_t spoilt_bits_ = 0;
  bool is_spoilt_ = false;
  std::string missed_;
  std::vector<Note> notes_;
};

/// Fingerprint of the elements of a tensor in their logical order, without padding.
std::uint64_t elements_fingerprint(const TensorDesc& desc, const void* storage);

}  // namespace opbench
