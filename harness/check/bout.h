#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/check/duel.h"

namespace opbench {

/// One case with one number of threads, and its variants on their way through the stages.
struct Bout {
  ListedCase spec;                     ///< as this build lists it, or the only one that does
  std::optional<std::string> base_id;  ///< of the other build; none: it does not list the case
  bool base_may_refuse = false;        ///< whether it has the case is not known
  bool is_in_current = true;
  int threads = 1;
  std::vector<Contestant> contestants;
};

/// The cases of both builds, those of this one first, each with every number of threads. An other
/// build that cannot read the selection is asked case by case, which `notices` says.
/// Errors: throws PeerError if this build refuses the selection.
std::vector<Bout> collect_bouts(Peer& base, Peer& current, const RunOptions& run,
                                std::vector<std::string>& notices);

/// Opens the case in both builds (`request`: its threads and how to measure) and judges accuracy;
/// contestants that can be timed are left open.
/// Errors: as `Peer::open`.
void meet(Bout& bout, Duel& duel, OpenRequest request);

/// Settles what is open, or the case where nothing is known of it, as ERROR.
void fail_bout(Bout& bout, const std::string& why);
/// Leaves the whole case as one AMBIGUOUS that nobody looked at.
void skip_bout(Bout& bout, const std::string& why);

std::vector<Contestant*> open_contestants(Bout& bout);

}  // namespace opbench
