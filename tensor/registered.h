#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace opbench {

/// Registers `entry` when it is constructed. Construct it only as a namespace-scope object. `T` has
/// a member `std::string key() const`, unique among the registered objects.
template <class T>
class Registered {
 public:
  explicit Registered(T entry) : entry_(std::move(entry)), next_(std::exchange(head_, this)) {}
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  /// Every registered `T`, sorted by key. Throws std::logic_error if two share a key.
  static std::vector<const T*> all() {
    std::vector<const T*> entries;
    for (const Registered* node = head_; node != nullptr; node = node->next_) {
      entries.push_back(&node->entry_);
    }
    std::sort(entries.begin(), entries.end(),
              [](const T* a, const T* b) { return a->key() < b->key(); });
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (entries[i]->key() == entries[i - 1]->key()) {
        throw std::logic_error("registered twice: " + entries[i]->key());
      }
    }
    return entries;
  }

 private:
  T entry_;
  const Registered* next_;
  // Before main only a pointer is set, so the order of static initialisation does not matter.
  static inline constinit const Registered* head_ = nullptr;
};

}  // namespace opbench
