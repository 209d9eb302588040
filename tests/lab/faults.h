#pragma once

#include <map>
#include <string>

namespace opbench::lab {

/// Shares by variant.
using Shares = std::map<std::string, double, std::less<>>;

/// What is bad about kernels.
struct Faults {
  Shares slowdown;  ///< OPBENCH_TEST_SLOWDOWN=softplus_v2=10,native=5: percent of a sample's calls
  Shares wrong;     ///< OPBENCH_TEST_WRONG_CALLS=relu=10: percent of them leave a wrong element
  std::string crashing_variant;  ///< OPBENCH_TEST_VARIANT_CRASH=onednn: where it is prepared
  std::string printing_variant;  ///< OPBENCH_TEST_VARIANT_PRINT=onednn: where it is prepared
  std::string crashing_case;     ///< OPBENCH_TEST_UNIT_CRASH=relu[64: when it states its memory
  std::string hanging_case;      ///< OPBENCH_TEST_UNIT_HANG=relu[64: where it is prepared

  bool is_any() const {
    return !slowdown.empty() || !wrong.empty() || !crashing_variant.empty() ||
           !printing_variant.empty() || !crashing_case.empty() || !hanging_case.empty();
  }
};

/// The faults that the environment asks for; none that it does not name. With
/// OPBENCH_TEST_SLOW_PROCESSES=30 only so many percent of the processes are slow.
/// Errors: throws Error for a variable that cannot be read.
Faults faults_of_environment();

/// Replaces all kernels by ones that have these faults, so that all count as other code. Samples of
/// a worker of `opbench check` are slow and wrong, and not what is run or verified before them.
void plant(Faults faults);

/// A worker has been asked for a sample, or for something else.
void set_sampling(bool is_sampling);

}  // namespace opbench::lab
