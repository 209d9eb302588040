#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace opbench {

/// An input that could not be converted, and the reason.
struct ConvertFailure {
  std::string file;
  std::string reason;          ///< names the file and the field
  bool is_of_machine = false;  ///< the input is good, but the machine failed
};

/// Result of a conversion.
struct ConvertOutcome {
  std::int64_t sources = 0;          ///< files that were read
  std::int64_t written = 0;          ///< files that were written
  std::vector<std::string> remarks;  ///< inputs that were skipped on purpose, one line each
  std::vector<ConvertFailure> failures;

  void add(ConvertOutcome&& other);
  /// Runs `work`. Its exceptions become failures of `file`.
  void attempt(const std::string& file, const std::function<void()>& work);
};

/// Memory limit of threads that convert at the same time: a quarter of the machine's memory.
class MemoryBudget {
 public:
  MemoryBudget();

  /// A share of the budget, returned at its end. Waits until enough is free. A request above the
  /// whole budget waits until it is the only share.
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

/// Calls `work(i)` for every i of [0, count), in order, on `thread_count()` threads, until all are
/// done or `stop()` is true. `work` must not throw.
void for_each_file(std::size_t count, const std::function<void(std::size_t index)>& work,
                   const std::function<bool()>& stop);

}  // namespace opbench
