#pragma once

#include <cstdint>
#include <ctime>

namespace opbench::guest {

/// Reads the monotonic clock by a function that was found before any library was loaded.
class Clock {
 public:
  std::int64_t nanoseconds() const;

 private:
  decltype(&clock_gettime) read_ = &clock_gettime;
};

/// Threads of this process, this one included.
int thread_count();

/// Writes memory that exceeds all caches of the processor.
void empty_caches();

}  // namespace opbench::guest
