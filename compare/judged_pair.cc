#include "compare/judged_pair.h"

#include <map>
#include <utility>

#include "compare/match_dumps.h"

namespace opbench {
namespace {

using Places = std::map<std::pair<std::string, std::string>, const JudgedRecord*>;

Places places_of(const JudgedDump& judged) {
  Places places;
  for (const JudgedRecord& record : judged.records) places[{record.op, record.seq}] = &record;
  return places;
}

const JudgedRecord* find(const Places& places, const DumpRecord* record) {
  if (record == nullptr) return nullptr;
  const auto found = places.find({record->op, record->seq_text});
  return found == places.end() ? nullptr : found->second;
}

bool is_guilty(const JudgedRecord* record) {
  return record != nullptr && record->ruling == Ruling::guilty;
}

}  // namespace

std::vector<JudgedPair> pair_judged(DumpSource& first_file, const JudgedDump& first,
                                    DumpSource& second_file, const JudgedDump& second,
                                    const NameMap& map) {
  const Places of_first = places_of(first), of_second = places_of(second);
  std::vector<JudgedPair> pairs;
  for (const OperatorMatch& match :
       match_dumps({first_file.records(), {}}, {second_file.records(), {}}, map)) {
    const JudgedPair pair{find(of_first, match.actual), find(of_second, match.expected)};
    if (pair.first != nullptr || pair.second != nullptr) pairs.push_back(pair);
  }
  return pairs;
}

PairCounts count(const std::vector<JudgedPair>& pairs) {
  PairCounts counts;
  for (const JudgedPair& pair : pairs) {
    counts.pairs += pair.first != nullptr && pair.second != nullptr;
    counts.both += is_guilty(pair.first) && is_guilty(pair.second);
    counts.only_first += is_guilty(pair.first) && !is_guilty(pair.second);
    counts.only_second += !is_guilty(pair.first) && is_guilty(pair.second);
  }
  return counts;
}

}  // namespace opbench
