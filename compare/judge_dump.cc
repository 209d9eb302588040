#include "compare/judge_dump.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "compare/match_dumps.h"
#include "compare/record_judge.h"
#include "compare/shared_judging.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

using RecordsByPlace = std::map<std::pair<std::string, std::string>, const JudgedRecord*>;

// The records to judge, in the order of their numbers.
std::vector<const DumpRecord*> judged_records(DumpSource& file, const JudgeOptions& options) {
  std::vector<const DumpRecord*> records;
  for (const DumpRecord& record : file.records()) {
    if (is_selected(record, options)) records.push_back(&record);
  }
  std::stable_sort(records.begin(), records.end(), [](const DumpRecord* a, const DumpRecord* b) {
    return std::tuple(!a->seq.has_value(), a->seq.value_or(0)) <
           std::tuple(!b->seq.has_value(), b->seq.value_or(0));
  });
  return records;
}

RecordsByPlace records_by_place(const JudgedDump& judged) {
  RecordsByPlace places;
  for (const JudgedRecord& record : judged.records) places[{record.op, record.seq}] = &record;
  return places;
}

const JudgedRecord* find(const RecordsByPlace& places, const DumpRecord* record) {
  if (record == nullptr) return nullptr;
  const auto found = places.find({record->op, record->seq_text});
  return found == places.end() ? nullptr : found->second;
}

}  // namespace

bool is_guilty(const JudgedRecord* record) {
  return record != nullptr && record->ruling == Ruling::guilty;
}

bool is_selected(const DumpRecord& record, const JudgeOptions& options) {
  if (!options.only || options.only(record.op)) return true;
  const std::string* const module = record.note("opbench_module");
  return module != nullptr && options.only(*module);
}

std::string_view name(Ruling ruling) {
  switch (ruling) {
    case Ruling::ok:
      return "OK";
    case Ruling::guilty:
      return "GUILTY";
    case Ruling::random:
      return "RANDOM";
    case Ruling::unknown:
      break;
  }
  return "UNKNOWN";
}

const OutputFinding* JudgedRecord::worst() const {
  const OutputFinding* worst = nullptr;
  for (const OutputFinding& finding : findings) {
    if (!finding.is_wrong) continue;
    if (worst == nullptr || finding.wrong_elements > worst->wrong_elements) worst = &finding;
  }
  return worst;
}

bool JudgedRecord::has_pictures() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const OutputFinding& finding) { return finding.picture != nullptr; });
}

void JudgedRecord::drop_pictures() {
  for (OutputFinding& finding : findings) finding.picture = nullptr;
}

std::optional<std::size_t> PicturedRecords::add(std::size_t place, const JudgedRecord& record) {
  if (!record.has_pictures()) return {};
  places_.insert(place);
  if (places_.size() <= kMost) return {};
  return places_.extract(std::prev(places_.end())).value();
}

std::int64_t JudgedDump::count(Ruling ruling) const {
  return std::count_if(records.begin(), records.end(),
                       [&](const JudgedRecord& record) { return record.ruling == ruling; });
}

std::int64_t JudgedDump::elements() const {
  std::int64_t sum = 0;
  for (const JudgedRecord& record : records) sum += record.elements;
  return sum;
}

std::int64_t JudgedDump::judged_elements() const {
  std::int64_t sum = 0;
  for (const JudgedRecord& record : records) sum += record.judged;
  return sum;
}

JudgedRecord judge_record(const RecordFiles& files, const DumpRecord& record, const OpTable& table,
                          const JudgeOptions& options) {
  JudgedRecord judged;
  with_threads(options.threads, [&] {
    judged = judge_record(files, record, table, options, UsualNaming(options.implementations));
  });
  return judged;
}

JudgedDump judge_dump(DumpSource& file, const OpTable& table, const JudgeOptions& options,
                      const std::function<void(std::size_t done, std::size_t all)>& progress,
                      const std::function<bool()>& stop) {
  JudgedDump judged;
  judged.file = file.name();
  const std::vector<const DumpRecord*> records = judged_records(file, options);
  judged.problems = file.problems();
  const NamingRule naming = UsualNaming(options.implementations);
  PicturedRecords pictured;
  with_threads(options.threads, [&] {
    for (std::size_t i = 0; i < records.size() && !stop(); ++i) {
      progress(i, records.size());
      judged.records.push_back(judge_record(file, *records[i], table, options, naming));
      const auto dropped = pictured.add(i, judged.records.back());
      if (dropped) judged.records[*dropped].drop_pictures();
    }
  });
  return judged;
}

JudgedDump judge_dump(Ranks& ranks, DumpSource& file, const OpTable& table,
                      const JudgeOptions& options,
                      const std::function<void(std::size_t done, std::size_t all)>& progress,
                      const std::function<bool()>& stop) {
  if (ranks.is_alone()) return judge_dump(file, table, options, progress, stop);
  const std::vector<const DumpRecord*> records = judged_records(file, options);
  const SharedJudging judging(ranks, file, records, table, options);
  if (!ranks.is_first()) {
    judging.serve();
    return {};
  }
  JudgedDump judged;
  judged.file = file.name();
  judged.problems = file.problems();
  judged.records = judging.judge(progress, stop);
  return judged;
}

std::vector<JudgedPair> pair_judged(DumpSource& first_file, const JudgedDump& first,
                                    DumpSource& second_file, const JudgedDump& second,
                                    const NameMap& map) {
  const RecordsByPlace of_first = records_by_place(first), of_second = records_by_place(second);
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
