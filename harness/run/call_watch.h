#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "harness/run/item.h"
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

/// Makes every timed call one that is checked, for the price of a store: before each, one element
/// of what the graph is given takes another value, so that what was remembered is wrong. Before
/// some, at random, an element of a result is overwritten with a near value, and a call that leaves
/// it there is none. Before the last call of a repetition all of those elements of the inputs have
/// values that no call before has seen: its results are those that are judged.
///
/// Order: begin; then for each call before, the call, after; at the end restore.
class CallWatch {
 public:
  /// The runnable's values are loaded. Both must outlive it. Places follow from `seed`, other
  /// values from seed and generation.
  CallWatch(const Runnable& runnable, const Workspace& workspace, std::uint64_t seed,
            std::uint64_t generation = 0);

  /// So many calls follow: the next generation of other values.
  void begin(std::int64_t calls);
  std::uint64_t generation() const { return generation_; }

  void before() {
    if (--calls_left_ == 0) {
      change_all();
      spoil();
      return;
    }
    change_next();
    if (--until_check_ == 0) spoil();
  }

  /// False if the call has left an element of a result as it was. `call` repeats it, for certainty.
  bool after(const std::function<void()>& call) { return !is_spoilt_ || is_written(call); }

  /// What a call left undone; empty if none did.
  const std::string& missed() const { return missed_; }

  /// Another input of the same kind.
  void change_next() {
    if (changes_.empty()) return;
    changes_[next_change_].toggle();
    if (++next_change_ == changes_.size()) next_change_ = 0;
  }

  /// Gives the inputs the values that they hold in the last call, and those that were loaded.
  void change_all();
  void restore();

 private:
  /// Other values for an element of an input: between calls, and for the last.
  struct Change {
    WatchedElement element;
    std::uint64_t loaded = 0, other = 0, last = 0;
    bool is_other = false;

    void toggle() {
      is_other = !is_other;
      element.store(is_other ? other : loaded);
    }
  };

  void add_changes();
  void renew();
  std::uint64_t value_of(const WatchedElement& element, std::uint64_t generation) const;
  void choose_results();
  void spoil();
  bool is_written(const std::function<void()>& call);
  WatchedElement element(std::size_t tensor, std::int64_t place) const;
  std::uint64_t random();

  const Runnable& runnable_;
  const Workspace& workspace_;
  std::vector<std::size_t> results_;  // tensors that every call writes
  std::vector<Change> changes_;
  std::size_t next_change_ = 0;
  std::vector<WatchedElement> targets_;  // of results, anew for each repetition
  const std::uint64_t seed_;
  std::uint64_t generation_;
  std::uint64_t state_;
  std::int64_t calls_left_ = 0, until_check_ = 0, longest_gap_ = 1;
  WatchedElement spoilt_;
  std::uint64_t spoilt_bits_ = 0;
  bool is_spoilt_ = false;
  std::string missed_;
};

}  // namespace opbench
