#pragma once

#include <cstdint>
#include <functional>

namespace opbench {
class CallWatch;
}

namespace opbench::check {

/// Takes short samples of a call over minutes; each sample can be compared by itself. A sample is
/// divided into batches, and its result is the median batch, so that a single disturbance does not
/// count.
class ShortSampler {
 public:
  struct Options {
    double seconds = 0.02;  ///< of one sample; a long call may take more
    /// Called before every call, outside the timed window; none: caches stay hot.
    std::function<void()> evict;
    /// Detects calls that skip work, as in a run; may be null. Must outlive the sampler.
    CallWatch* watch = nullptr;
    /// Checks the results of the last timed call, while its inputs are still there; may be empty.
    std::function<void()> judge = {};
  };

  /// Runs the call several times to find the number of calls per sample.
  ShortSampler(std::function<void()> call, Options options);

  /// Takes a sample: microseconds of one call. It begins with calls that are not timed, because
  /// another process may have used the caches and the cores since the last sample.
  /// Errors: throws Error if a watched call skipped work.
  double sample_us() const;

  /// Measured seconds of this number of calls.
  double batch_seconds(std::int64_t calls) const;

 private:
  void calibrate();
  double watched_seconds(std::int64_t calls) const;

  std::function<void()> call_;
  Options options_;
  int batches_ = 1;
  std::int64_t calls_ = 1;
  std::int64_t warm_up_calls_ = 1;
};

}  // namespace opbench::check
