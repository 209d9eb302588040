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

/// Address and size of one element of a tensor; accessed as bits.
struct WatchedElement {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  std::size_t tensor = 0;
  std::int64_t place = 0;  ///< logical index

  std::uint64_t load() const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, bytes);
    return bits;
  }
  void store(std::uint64_t bits) const { std::memcpy(at, &bits, bytes); }
};

/// An element of an input, with its loaded value and the value that replaces it.
struct WatchedChange {
  WatchedElement element;
  std::uint64_t loaded = 0, other = 0;

  void apply() const { element.store(other); }
  void undo() const { element.store(loaded); }
};

/// Inputs of a timed call, as differences to the loaded values.
struct TimedInputs {
  std::uint64_t generation = 0;  ///< see `InputRefill::put`
  std::vector<WatchedChange> changes;
};

/// Checks every timed call, at the cost of two stores per call. Before each call, one element of
/// the inputs gets another value at a random place, and the previous change is undone. Before some
/// random calls, an element of a result is overwritten with a close value. A call that leaves it
/// unchanged did not write its output. All inputs of a case get other values before every
/// repetition. A kernel cannot distinguish the last call, whose results are verified, from the
/// calls before.
///
/// Order: for each repetition `refill` (optional) and `begin`; for each call `before`, the call,
/// `after`; then `note` (optional). At the end `repeats_its_results` (if there are notes) and
/// `restore`.
class CallWatch {
 public:
  /// The variant's values of `seed` must be loaded. Both references must outlive this object.
  CallWatch(const UnitVariant& variant, const Workspace& workspace, std::uint64_t seed);

  /// Puts new values into all inputs of a case. Those of a context are loaded for every round
  /// instead.
  void refill();

  /// Announces the number of calls of a repetition. Draws new places and values.
  void begin(std::int64_t calls);

  void before() {
    change_next();
    --calls_left_;
    --until_check_;
    if (calls_left_ == 0 || until_check_ == 0) spoil();
  }

  /// False if the call has not written an element of a result. Repeats `call` to confirm it.
  bool after(const std::function<void()>& call) { return !is_spoilt_ || is_written(call); }

  /// Description of the missing output of a call; empty if all calls wrote their outputs.
  const std::string& missed() const { return missed_; }

  /// Changes another element of the inputs.
  void change_next() {
    if (changes_.empty()) return;
    changes_[current_].undo();
    if (++current_ == changes_.size()) current_ = 0;
    changes_[current_].apply();
  }
  /// The change that is in place; null: no change.
  const WatchedChange* current() const { return changes_.empty() ? nullptr : &changes_[current_]; }

  /// Stores the fingerprint of the results of a repetition's last call, if it was not the only
  /// call.
  void note();

  /// Repeats noted calls: puts their inputs in place, after other inputs, and compares the bits of
  /// the results. It repeats a minimum number of calls, and more for up to `seconds`. Use it only
  /// for kernels whose results are reproducible bit for bit.
  bool repeats_its_results(const std::function<void()>& call, double seconds);

  /// The inputs that are in place now.
  TimedInputs inputs() const;

  /// Puts inputs in place, on the same loaded values. Another watch may have returned them, and the
  /// tensors may have moved since.
  void put(const TimedInputs& inputs);

  /// Undoes the changes of the inputs, before the tensors move.
  void undo_changes();

  /// Restores the inputs as loaded.
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
  std::uint64_t results() const;
  WatchedElement element(std::size_t tensor, std::int64_t place) const;
  std::uint64_t random();

  const UnitVariant& variant_;
  const Workspace& workspace_;
  InputRefill refill_;
  std::vector<std::size_t> results_;  // tensors that every call writes
  std::vector<std::size_t> inputs_;   // tensors in which values may change
  std::vector<WatchedChange> changes_;
  std::size_t current_ = 0;
  std::vector<WatchedElement> targets_;  // of results, drawn for each repetition
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
