#include "harness/check/code_verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace opbench::check {
namespace {

// What fails the check, and what would not let it end well.
bool may_be_slower(const Item& item) {
  const bool is_suspect = item.verdict == Verdict::ambiguous && item.is_unfinished && item.speed &&
                          item.speed->change > 0;
  return item.verdict == Verdict::slower || is_suspect;
}

CodeReply ask(Peer& peer, OpenRequest request, const std::string& variant) {
  request.variants = {variant};
  request.verify = false;
  try {
    peer.open(request);
    CodeReply reply = peer.code(variant);
    peer.close();
    return reply;
  } catch (const Error& error) {
    return {"", error.what()};
  }
}

}  // namespace

void judge_code(Item& item, const CodeReply& base, const CodeReply& current) {
  if (!may_be_slower(item)) return;
  for (const auto& [build, reply] : {std::pair("the other build", &base), {"this one", &current}}) {
    if (!reply->fingerprint.empty()) continue;
    item.notices.push_back(
        fmt::format("whether its machine code changed is not known: {} cannot tell ({})", build,
                    reply->reason));
    return;
  }
  if (base.fingerprint != current.fingerprint) return;
  if (item.base_bits.empty() || item.current_bits.empty()) {
    item.notices.push_back(
        "both builds run the same machine code here; whether on the same inputs is not known "
        "without verification");
    return;
  }
  // Other results of the same code: it was given other inputs, and may take longer for them.
  if (item.base_bits != item.current_bits) return;
  item.verdict = Verdict::layout;
  item.is_regression = item.is_unfinished = false;
  item.evidence +=
      "; both builds run the same machine code here, so this is where the linker put it";
}

void compare_code(const ComparedCase& compared, Item& item, Peer& base, Peer& current,
                  const OpenRequest& how) {
  if (!may_be_slower(item)) return;
  judge_code(item, ask(base, base_request(compared, how), item.variant),
             ask(current, current_request(compared, how), item.variant));
}

void note_layout(const std::vector<Item>& items, std::vector<std::string>& notices) {
  const auto count = std::count_if(
      items.begin(), items.end(), [](const Item& item) { return item.verdict == Verdict::layout; });
  if (count == 0) return;
  notices.push_back(fmt::format(
      "{} of {} slower with the same machine code: LAYOUT, which is no regression of the sources",
      count, items.size()));
}

}  // namespace opbench::check
