#include "compare/match/number_shift.h"

#include <set>

#include "compare/match/match_families.h"

namespace opbench {
namespace {

std::size_t paired(const std::vector<FamilyPair>& families, std::int64_t shift) {
  std::size_t count = 0;
  for (const FamilyPair& family : families) {
    std::multiset<std::int64_t> theirs;
    for (const DumpRecord* call : family.expected.calls) {
      if (call->seq) theirs.insert(*call->seq);
    }
    for (const DumpRecord* call : family.actual.calls) {
      // Numbers come from files: far ones are left out, so that none overflows.
      if (!call->seq || *call->seq < 0 || *call->seq > (std::int64_t{1} << 62)) continue;
      const auto found = theirs.find(*call->seq - shift);
      if (found == theirs.end()) continue;
      theirs.erase(found);
      ++count;
    }
  }
  return count;
}

}  // namespace

std::optional<std::int64_t> number_shift(std::span<const DumpRecord> actual,
                                         std::span<const DumpRecord> expected, const NameMap& map) {
  constexpr std::int64_t kFarthest = 16;
  const std::vector<FamilyPair> families = pair_families(actual, expected, map);
  const std::size_t unshifted = paired(families, 0);
  if (2 * unshifted >= actual.size()) return std::nullopt;
  std::size_t most = 0;
  std::int64_t best = 0;
  for (std::int64_t distance = 1; distance <= kFarthest; ++distance) {
    for (const std::int64_t shift : {distance, -distance}) {
      const std::size_t count = paired(families, shift);
      if (count > most) {
        most = count;
        best = shift;
      }
    }
  }
  const bool is_clear = most > 2 * unshifted && 2 * most > actual.size();
  return is_clear ? std::optional(best) : std::nullopt;
}

}  // namespace opbench
