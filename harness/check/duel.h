#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/check/peer.h"
#include "harness/check/verdict.h"

namespace opbench {

/// One variant on its way through the stages.
struct Contestant {
  CheckItem item;
  PairedTimes times;
  bool is_open = false;  ///< still to be timed

  /// Settles it as ERROR.
  void fail(const std::string& why, bool is_regression);
};

/// One case open in two builds, or in two processes of one.
class Duel {
 public:
  Duel(Peer& base, Peer& current) : base_(base), current_(current) {}

  /// Errors: as `Peer::open`.
  OpenReply open_base(const OpenRequest& request);
  OpenReply open_current(const OpenRequest& request);
  void close();

  /// `rounds` rounds over all contestants that are open, appended to their stage. One that fails
  /// is settled as ERROR and the others go on. False if `deadline` came first; the stage is as it
  /// was before then.
  bool fight(std::vector<Contestant*>& contestants, PairedTimes::Stage PairedTimes::*stage,
             int rounds, std::chrono::steady_clock::time_point deadline);
  /// Numbers this pair of processes, for the rounds that follow.
  void set_pair(int number) { pair_ = number; }

 private:
  void round(Contestant& contestant, PairedTimes::Stage PairedTimes::*stage, bool base_first);
  /// Opens the case again in a worker that was lost, for those who are left.
  void recover(const std::vector<Contestant*>& contestants);

  Peer& base_;
  Peer& current_;
  OpenRequest base_request_, current_request_;
  int pair_ = 0;
};

}  // namespace opbench
