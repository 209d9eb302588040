#pragma once

#include <map>
#include <string>

namespace opbench::lab {

/// Shares by variant.
using Shares = std::map<std::string, double, std::less<>>;

/// Faults of kernels.
struct Faults {
  Shares slowdown;  ///< OPBENCH_TEST_SLOWDOWN=softplus_v2=10,native=5: percent of a sample's calls
  Shares wrong;     ///< OPBENCH_TEST_WRONG_CALLS=relu=10: percent of the calls with a wrong element
  std::string crashing_variant;  ///< OPBENCH_TEST_VARIANT_CRASH=onednn: when it is prepared
  std::string printing_variant;  ///< OPBENCH_TEST_VARIANT_PRINT=onednn: when it is prepared
  std::string crashing_case;     ///< OPBENCH_TEST_UNIT_CRASH=relu[64: when it computes its memory
  std::string hanging_case;      ///< OPBENCH_TEST_UNIT_HANG=relu[64: when it is prepared

  bool is_any() const {
    return !slowdown.empty() || !wrong.empty() || !crashing_variant.empty() ||
           !printing_variant.empty() || !crashing_case.empty() || !hanging_case.empty();
  }
};

/// Reads the faults from the environment. With OPBENCH_TEST_SLOW_PROCESSES=30 only this percentage
/// of the processes is slow. Errors: throws Error for a variable that cannot be parsed.
Faults faults_of_environment();

/// Replaces all kernels by kernels with these faults, so that all count as different code. In a
/// worker of `opbench check` only samples are slow and wrong, not the runs and verifications
/// before.
void plant(Faults faults);

/// Must be called before a worker handles a request: true if it is for a sample.
void set_sampling(bool is_sampling);

}  // namespace opbench::lab
