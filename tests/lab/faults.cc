#include "tests/lab/faults.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <random>
#include <string_view>

#include "tensor/error.h"

namespace opbench::lab {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// Parses "softplus_v2=10,native=5" as 0.1 and 0.05.
Shares shares_of(const char* name) {
  const std::string whole = variable(name);
  std::string_view text = whole;
  Shares shares;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto equals = part.find('=');
    double percent = 0;
    const char* const begin = part.data() + std::min(part.size(), equals + 1);
    const auto [end, status] = std::from_chars(begin, part.data() + part.size(), percent);
    if (equals == 0 || equals == std::string_view::npos || status != std::errc{} ||
        end != part.data() + part.size() || !(percent >= 1 && percent <= 1000)) {
      throw Error(
          fmt::format("{} '{}' must be VARIANT=PERCENT[,VARIANT=PERCENT...] with 1 to 1000 percent",
                      name, part));
    }
    shares[std::string(part.substr(0, equals))] = percent / 100;
  }
  return shares;
}

bool is_slow_process() {
  const std::string percent = variable("OPBENCH_TEST_SLOW_PROCESSES");
  return percent.empty() ||
         std::random_device{}() % 100 < std::strtoul(percent.c_str(), nullptr, 10);
}

}  // namespace

Faults faults_of_environment() {
  Faults faults;
  faults.slowdown = shares_of("OPBENCH_TEST_SLOWDOWN");
  if (!is_slow_process()) {
    for (auto& [variant, share] : faults.slowdown) share = 0;
  }
  faults.wrong = shares_of("OPBENCH_TEST_WRONG_CALLS");
  faults.crashing_variant = variable("OPBENCH_TEST_VARIANT_CRASH");
  faults.printing_variant = variable("OPBENCH_TEST_VARIANT_PRINT");
  faults.crashing_case = variable("OPBENCH_TEST_UNIT_CRASH");
  faults.hanging_case = variable("OPBENCH_TEST_UNIT_HANG");
  return faults;
}

}  // namespace opbench::lab
