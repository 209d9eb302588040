#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/kernel_run.h"

namespace opbench {

/// What the bits of a result may depend on and should not.
enum class Invariance { repeats, threads, batch, alignment, neighbours, format, isa };
inline constexpr std::size_t kInvariances = 7;
std::string_view name(Invariance column);

/// The first place where a result differs.
struct Difference {
  std::string how;    ///< the change that showed it: "7 threads", "avx2"
  std::string place;  ///< "result[0,3,1]"
  std::string here, there;
};

struct InvarianceCell {
  /// `near`: of an arithmetic operator, inside its tolerance, where nothing promises the same bits:
  /// in another batch, format or instruction set. `open`: a library of others that says so.
  enum State { same, near, open, differs, not_applicable } state = not_applicable;
  Difference first;    ///< where something differs
  std::string reason;  ///< why it does not apply
};

/// One variant on one case.
struct InvarianceRow {
  std::string variant, case_id;
  std::string refusal;  ///< why it does not run; empty if it does
  std::array<InvarianceCell, kInvariances> cells;

  const InvarianceCell& at(Invariance column) const {
    return cells[static_cast<std::size_t>(column)];
  }
  bool differs() const;
};

/// Runs a kernel again and again and changes one thing at a time: how often it ran, the threads,
/// the batch (rows alone against rows among others, where the operator's reference is the same for
/// both), addresses, the bytes around its tensors and in its results, the storage format, the
/// instruction set. Errors: throws Error if the case is wrong, and whatever a kernel throws.
InvarianceRow check_invariance(const Kernel& kernel, const Case& c);

}  // namespace opbench
