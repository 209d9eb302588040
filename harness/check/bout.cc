#include "harness/check/bout.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

CheckItem& add_item(Bout& bout, const std::string& variant) {
  Contestant contestant;
  contestant.item.case_id = bout.spec.id;
  contestant.item.case_key = bout.spec.key;
  contestant.item.case_name = bout.spec.name;
  contestant.item.variant = variant;
  contestant.item.count = bout.spec.count;
  contestant.item.threads = bout.threads;
  bout.contestants.push_back(std::move(contestant));
  return bout.contestants.back().item;
}

void add_contestant(Bout& bout, const std::string& variant, const OpenedVariant* base,
                    const OpenedVariant* current) {
  const auto is_skipped = [](const OpenedVariant* opened) {
    return opened == nullptr || opened->status == Status::skipped;
  };
  if (is_skipped(base) && is_skipped(current)) return;
  CheckItem& item = add_item(bout, variant);
  bout.contestants.back().is_open = judge_accuracy(item, base, current);
}

// A case that the other build may not have is new where it refuses it.
OpenReply open_base(const Bout& bout, Duel& duel, OpenRequest request) {
  if (!bout.base_id) return {};
  request.id = *bout.base_id;
  try {
    return duel.open_base(request);
  } catch (const PeerError&) {
    if (!bout.base_may_refuse) throw;
    return {};
  }
}

}  // namespace

std::vector<Bout> collect_bouts(Peer& base, Peer& current, const RunOptions& run,
                                std::vector<std::string>& notices) {
  std::map<std::string, ListedCase> others;
  bool is_listed = true;
  try {
    for (ListedCase& c : base.list(run)) others.emplace(c.key, std::move(c));
  } catch (const PeerError& error) {  // older than an operator or than a key of the case files
    is_listed = false;
    notices.push_back(fmt::format(
        "the other build cannot read the selection ({}); cases that only it has are not seen",
        error.what()));
  }
  const std::vector<int> threads =
      run.threads.empty() ? std::vector<int>{available_cores()} : run.threads;
  std::vector<Bout> bouts;
  for (const ListedCase& c : current.list(run)) {
    const auto other = others.find(c.key);
    std::optional<std::string> base_id;
    if (!is_listed) base_id = c.id;
    if (other != others.end()) base_id = other->second.id;
    for (const int count : threads) bouts.push_back({c, base_id, !is_listed, true, count, {}});
    if (other != others.end()) others.erase(other);
  }
  for (const auto& [key, c] : others) {
    bouts.push_back({c, c.id, false, false, threads.front(), {}});
  }
  return bouts;
}

void meet(Bout& bout, Duel& duel, OpenRequest request) {
  if (!bout.is_in_current) {
    CheckItem& item = add_item(bout, "");
    item.verdict = CheckVerdict::gone;
    item.is_regression = true;
    item.evidence = "only the other build has this case";
    return;
  }
  const OpenReply base = open_base(bout, duel, request);
  request.id = bout.spec.id;
  const OpenReply current = duel.open_current(request);
  std::map<std::string, const OpenedVariant*> others;
  for (const OpenedVariant& variant : base.variants) others.emplace(variant.name, &variant);
  for (const OpenedVariant& variant : current.variants) {
    const auto other = others.find(variant.name);
    add_contestant(bout, variant.name, other == others.end() ? nullptr : other->second, &variant);
    if (other != others.end()) others.erase(other);
  }
  for (const auto& [name, variant] : others) add_contestant(bout, name, variant, nullptr);
}

void fail_bout(Bout& bout, const std::string& why) {
  if (bout.contestants.empty()) {
    add_item(bout, "");
    bout.contestants.back().is_open = true;
  }
  for (Contestant* contestant : open_contestants(bout)) contestant->fail(why, false);
}

void skip_bout(Bout& bout, const std::string& why) {
  CheckItem& item = add_item(bout, "");
  item.is_unfinished = true;
  item.evidence = why;
}

std::vector<Contestant*> open_contestants(Bout& bout) {
  std::vector<Contestant*> open;
  for (Contestant& contestant : bout.contestants) {
    if (contestant.is_open) open.push_back(&contestant);
  }
  return open;
}

}  // namespace opbench
