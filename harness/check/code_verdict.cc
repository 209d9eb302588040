#include "harness/check/code_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace opbench::check {
namespace {

// Other results of the same code: it was given other inputs, and may take longer for them.
bool has_same_bits(const Item& item) {
  return !item.base_bits.empty() && item.base_bits == item.current_bits;
}

// Empty: it is known.
std::string unknown_text(const CodeReply& base, const CodeReply& current) {
  for (const auto& [build, reply] : {std::pair("the other build", &base), {"this one", &current}}) {
    if (reply->fingerprint.empty()) {
      return fmt::format("{} cannot tell ({})", build, reply->reason);
    }
  }
  return {};
}

}  // namespace

void settle_same_code(ComparedCase& compared, Peer& base, Peer& current) {
  for (ComparedVariant* variant : compared.open_variants()) {
    Item& item = variant->item;
    if (item.base_bits.empty() || item.current_bits.empty()) {
      variant->code_unknown = "whether both have the same inputs is not known without verification";
      continue;
    }
    if (!has_same_bits(item)) continue;
    const CodeReply before = base.code(item.variant), now = current.code(item.variant);
    variant->code_unknown = unknown_text(before, now);
    if (!variant->code_unknown.empty() || before.fingerprint != now.fingerprint) continue;
    // One call in a sample says how much it weighs, and that it is as right as when it was
    // verified.
    const Sampled sampled = current.sample(item.variant);
    if (!wrong_with(sampled, variant->current_results).empty()) continue;
    variant->is_open = false;
    item.same_code_us = sampled.us;
    item.is_same_code = true;
    item.verdict = Verdict::same;
    item.evidence = "both builds run the same machine code here, which was not timed";
  }
}

void note_unknown_code(const ComparedVariant& variant, Item& item) {
  const bool looks_slower =
      item.verdict == Verdict::slower || (item.verdict == Verdict::ambiguous && item.is_unfinished);
  if (!looks_slower || variant.code_unknown.empty()) return;
  item.notices.push_back(
      fmt::format("whether its machine code changed is not known: {}", variant.code_unknown));
}

void note_same_code(const std::vector<Item>& items, std::vector<std::string>& notices) {
  const auto count =
      std::count_if(items.begin(), items.end(), [](const Item& item) { return item.is_same_code; });
  if (count == 0) return;
  notices.push_back(
      fmt::format("{} of {} run the same machine code in both builds with the same results; they "
                  "were not timed",
                  count, items.size()));
}

}  // namespace opbench::check
