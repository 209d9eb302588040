#pragma once

#include <optional>

#include "cli/check_flags.h"
#include "cli/command.h"
#include "cli/stored_selection.h"
#include "harness/check/check.h"

namespace opbench {

/// `check --baseline FILE`: compares stored results with those of `--current FILE` or of a run made
/// now.
class StoredCheck {
 public:
  StoredCheck(const CheckFlags& flags, CommandContext& context)
      : flags_(flags), context_(context) {}

  /// The first baseline ever stays here.
  std::string anchor_path() const { return flags_.baseline + ".anchor"; }

  /// False where there is no baseline and none is to be made: nothing can be judged.
  bool has_baseline() const;

  /// Errors: throws Error for a file that cannot be read, flags that contradict each other, or a
  /// selection that is no good.
  check::Report compare();

  /// With --update: the results become the baseline. `compare` looks at it and at the anchor, so
  /// that slow creep shows.
  void update();

 private:
  ResultsFile run_now() const;
  /// Both files then hold what is selected.
  void read_current(ResultsFile& baseline);
  void note_anchor(check::Report& report, const check::WatchOptions& options) const;

  const CheckFlags& flags_;
  CommandContext& context_;
  std::optional<StoredSelection> selection_;  ///< of --current; what runs now is a plan of its own
  ResultsFile current_;
};

}  // namespace opbench
