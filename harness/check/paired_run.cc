#include "harness/check/paired_run.h"

#include <algorithm>

namespace opbench::check {

void ComparedVariant::fail(const std::string& why, bool is_regression) {
  is_open = false;
  item.verdict = Verdict::error;
  item.evidence = why;
  item.is_regression = is_regression;
  item.is_unfinished = !is_regression;
}

OpenReply PairedRun::open_base(const OpenRequest& request) {
  base_request_ = request;
  return base_.open(request);
}

OpenReply PairedRun::open_current(const OpenRequest& request) {
  current_request_ = request;
  return current_.open(request);
}

void PairedRun::close() {
  base_.close();
  current_.close();
}

void PairedRun::take_pair(ComparedVariant& variant, StageMember stage, bool base_first) {
  const std::string& name = variant.item.variant;
  double base_us = 0, current_us = 0;
  if (base_first) base_us = base_.sample_us(name);
  current_us = current_.sample_us(name);
  if (!base_first) base_us = base_.sample_us(name);
  (variant.times.*stage).add(base_us, current_us, pair_);
}

void PairedRun::take_round(const std::vector<ComparedVariant*>& variants, StageMember stage,
                           bool base_first) {
  for (ComparedVariant* variant : variants) {
    if (!variant->is_open) continue;
    try {
      take_pair(*variant, stage, base_first);
    } catch (const ChildLost& lost) {
      variant->fail(lost.what(), false);
      recover(variants);
    } catch (const PeerError& error) {
      variant->fail(error.what(), true);
    }
  }
}

void PairedRun::recover(const std::vector<ComparedVariant*>& variants) {
  std::vector<std::string> left;
  for (const ComparedVariant* variant : variants) {
    if (variant->is_open) left.push_back(variant->item.variant);
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

bool PairedRun::measure(const std::vector<ComparedVariant*>& variants, StageMember stage,
                        int rounds, const Budget& budget) {
  std::vector<std::size_t> before;
  for (const ComparedVariant* variant : variants) {
    before.push_back((variant->times.*stage).size());
  }
  for (int i = 0; i < rounds; ++i) {
    if (budget.is_spent()) {
      for (std::size_t j = 0; j < variants.size(); ++j) {
        (variants[j]->times.*stage).cut(before[j]);
      }
      return false;
    }
    take_round(variants, stage, i % 2 == 0);
  }
  return true;
}

}  // namespace opbench::check
