#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/kernel_run.h"

namespace opbench {

/// Conditions that must not change the bits of a result.
enum class Invariance { repeats, threads, batch, alignment, neighbours, format, isa };
inline constexpr std::size_t kInvariances = 7;
std::string_view name(Invariance column);

/// The first element whose bits differ.
struct Difference {
  std::string how;    ///< the condition that was changed: "7 threads", "avx2"
  std::string place;  ///< "result[0,3,1]"
  std::string here, there;
};

struct InvarianceCell {
  /// `near`: an arithmetic operator whose results are inside its tolerance. Identical bits are not
  /// guaranteed in another batch, format or instruction set. `open`: a third-party library that
  /// documents this.
  enum State { same, near, open, differs, not_applicable } state = not_applicable;
  Difference first;    ///< set if something differs
  std::string reason;  ///< why it does not apply
};

/// "same", "near", "open", "differs", "not applicable".
std::string_view name(InvarianceCell::State state);
/// Its sign in tables: "✓".
std::string_view sign_of(InvarianceCell::State state);

/// One variant on one case.
struct InvarianceRow {
  std::string variant, case_id;
  std::string refusal;  ///< why it does not run; empty if it runs
  std::array<InvarianceCell, kInvariances> cells;

  const InvarianceCell& at(Invariance column) const {
    return cells[static_cast<std::size_t>(column)];
  }
  bool differs() const;
};

/// Runs a kernel repeatedly and changes one condition at a time: the number of runs, the threads,
/// the batch (single rows against rows of a batch, if the operator's reference is the same for
/// both), addresses, the bytes around its tensors and in its results, the storage format, the
/// instruction set.
/// Errors: throws Error if the case is wrong, and the errors of the kernel.
InvarianceRow check_invariance(const Kernel& kernel, const Case& c);

}  // namespace opbench
