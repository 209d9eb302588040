#include "harness/check/duel.h"

#include <algorithm>

namespace opbench {

void Contestant::fail(const std::string& why, bool is_regression) {
  is_open = false;
  item.verdict = CheckVerdict::error;
  item.evidence = why;
  item.is_regression = is_regression;
  item.is_unfinished = !is_regression;
}

OpenReply Duel::open_base(const OpenRequest& request) {
  base_request_ = request;
  return base_.open(request);
}

OpenReply Duel::open_current(const OpenRequest& request) {
  current_request_ = request;
  return current_.open(request);
}

void Duel::close() {
  base_.close();
  current_.close();
}

void Duel::round(Contestant& contestant, PairedTimes::Stage PairedTimes::*stage, bool base_first) {
  const std::string& variant = contestant.item.variant;
  double base_us = 0, current_us = 0;
  if (base_first) base_us = base_.sample_us(variant);
  current_us = current_.sample_us(variant);
  if (!base_first) base_us = base_.sample_us(variant);
  (contestant.times.*stage).base_us.push_back(base_us);
  (contestant.times.*stage).current_us.push_back(current_us);
  (contestant.times.*stage).pair.push_back(pair_);
}

void Duel::recover(const std::vector<Contestant*>& contestants) {
  std::vector<std::string> left;
  for (const Contestant* contestant : contestants) {
    if (contestant->is_open) left.push_back(contestant->item.variant);
  }
  if (left.empty()) return;
  for (const bool is_base : {true, false}) {
    Peer& peer = is_base ? base_ : current_;
    if (peer.is_running()) continue;
    OpenRequest request = is_base ? base_request_ : current_request_;
    request.variants = left;
    request.verify = false;  // was done
    peer.open(request);
  }
}

bool Duel::fight(std::vector<Contestant*>& contestants, PairedTimes::Stage PairedTimes::*stage,
                 int rounds, std::chrono::steady_clock::time_point deadline) {
  const auto is_done = [](const Contestant* contestant) { return !contestant->is_open; };
  std::vector<std::size_t> before;
  for (const Contestant* contestant : contestants) {
    before.push_back((contestant->times.*stage).base_us.size());
  }
  for (int i = 0; i < rounds; ++i) {
    if (std::chrono::steady_clock::now() > deadline) {
      for (std::size_t j = 0; j < contestants.size(); ++j) {
        (contestants[j]->times.*stage).base_us.resize(before[j]);
        (contestants[j]->times.*stage).current_us.resize(before[j]);
        (contestants[j]->times.*stage).pair.resize(before[j]);
      }
      return false;
    }
    for (Contestant* contestant : contestants) {
      if (!contestant->is_open) continue;
      try {
        round(*contestant, stage, i % 2 == 0);
      } catch (const ChildLost& lost) {
        contestant->fail(lost.what(), false);
        recover(contestants);
      } catch (const PeerError& error) {
        contestant->fail(error.what(), true);
      }
    }
    if (std::all_of(contestants.begin(), contestants.end(), is_done)) break;
  }
  return true;
}

}  // namespace opbench
