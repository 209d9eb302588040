#pragma once

#include <cstdint>
#include <functional>

namespace opbench {
class CallWatch;
}

namespace opbench::check {

/// Takes short samples of a call, many of them over minutes, each worth comparing on its own: a
/// sample is cut into batches, and its result is the median batch, so that one disturbance inside a
/// sample does not count.
class ShortSampler {
 public:
  struct Options {
    double seconds = 0.02;  ///< of one sample; a long call may take more
    /// Called before every call, outside the timed window; none: hot.
    std::function<void()> evict;
    /// Sees to it that every call is one, as in a run; null: nobody does. Must outlive the sampler.
    CallWatch* watch = nullptr;
    /// Looks at what the last timed call left, while its inputs are still there; none: nobody does.
    std::function<void()> judge = {};
  };

  /// Calls it a few times to find how many calls fit.
  ShortSampler(std::function<void()> call, Options options);

  /// Microseconds of one call. Begins with calls that are not timed: another process may have used
  /// the caches and the cores since the last sample.
  /// Errors: throws Error if a watched call was none.
  double sample_us() const;

  /// Seconds that so many calls take.
  double batch_seconds(std::int64_t calls) const;

  std::int64_t calls_per_batch() const { return calls_; }

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
