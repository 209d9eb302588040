// Times a user's function and compares its rate with a copy of the same bytes.
#include <opbench/run.h>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> x(1 << 20, 1.5F), y(x.size());
  const auto scale = [&] {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  };
  const std::size_t bytes = 2 * x.size() * sizeof(float);  // reads x, writes y
  const opbench::FunctionTiming timing =
      opbench::time_function(scale, {.bytes = bytes, .threads = 1, .seconds = 0.05});
  std::printf("%zu samples, median %.1f us, MAD %.1f us, %.1f GB/s, %.0f %% of copy\n",
              timing.samples_us.size(), timing.median_us, timing.mad_us, timing.gb_per_s,
              100 * timing.copy_share);
}
