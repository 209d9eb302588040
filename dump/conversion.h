#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace opbench {

/// What could not be converted, and why.
struct ConvertFailure {
  std::string file;
  std::string reason;          ///< names the file and the field
  bool is_of_machine = false;  ///< good input, but it could not be carried out
};

/// What a conversion did.
struct ConvertOutcome {
  std::int64_t sources = 0;          ///< files that were read
  std::int64_t written = 0;          ///< files
  std::vector<std::string> remarks;  ///< what was left out on purpose, one line each
  std::vector<ConvertFailure> failures;

  void add(ConvertOutcome&& other);
  /// Runs `work`; what it throws becomes a failure of `file`.
  void attempt(const std::string& file, const std::function<void()>& work);
};

/// Memory that is shared by those who work at the same time: a quarter of the machine's.
class MemoryBudget {
 public:
  MemoryBudget();

  /// A part of it, given back at the end. Waits until there is as much; what is more than all of it
  /// is given to one who has it alone.
  class Share {
   public:
    Share(MemoryBudget& budget, std::int64_t bytes);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    MemoryBudget& budget_;
    std::int64_t bytes_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::int64_t total_ = 0, used_ = 0;
};

/// Calls `work(i)` for every i of [0, count) on as many threads as `thread_count()`, the first ones
/// first, until all are done or `stop()` is true. `work` does not throw.
void for_each_file(std::size_t count, const std::function<void(std::size_t index)>& work,
                   const std::function<bool()>& stop);

}  // namespace opbench
