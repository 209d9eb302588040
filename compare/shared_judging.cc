#include "compare/shared_judging.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/buffer.h"
#include "tensor/parallel.h"
#include "text/packed.h"

namespace opbench {

template <class V>
void each_field(V& v, FieldsOf<AxisErrors> auto& axis) {
  v.fields(axis.by_remainder, axis.last, axis.before_last);
}

template <class V>
void each_field(V& v, FieldsOf<ErrorMap> auto& map) {
  v.fields(map.shape, map.rows, map.columns, map.row_step, map.column_step, map.errors, map.axes);
}

template <class V>
void each_field(V& v, FieldsOf<ErrorPicture> auto& picture) {
  v.fields(picture.histogram.exact, picture.histogram.counts, picture.map);
}

template <class V>
void each_field(V& v, FieldsOf<Cause> auto& cause) {
  v.fields(cause.rule, cause.text);
}

template <class V>
void each_field(V& v, FieldsOf<OutputFinding> auto& finding) {
  v.fields(finding.path, finding.op, finding.reason, finding.pattern, finding.formula,
           finding.numerics, finding.is_wrong, finding.elements, finding.wrong_elements,
           finding.min_tolerance, finding.worst_element, finding.worst_actual,
           finding.worst_expected, finding.is_inconclusive, finding.is_leaning, finding.allowed,
           finding.allowed_share, finding.causes);
  bool has_picture = finding.picture != nullptr;
  v.fields(has_picture);
  if (!has_picture) return;
  if constexpr (V::kReads)
    finding.picture = std::make_shared<const ErrorPicture>(v.template get<ErrorPicture>());
  else
    v.fields(*finding.picture);
}

template <class V>
void each_field(V& v, FieldsOf<JudgedRecord> auto& record) {
  v.fields(record.op, record.seq, record.implementation, record.reason, record.device, record.dtype,
           record.module, record.source, record.ruling, record.elements, record.judged,
           record.findings);
}

template <class V>
void each_field(V& v, FieldsOf<JudgedCall> auto& call) {
  v.fields(call.op, call.dtype, call.is_wrong);
}

namespace {

// Reading and recomputing are some hundred operations an element.
double seconds_of(const DumpRecord& record) {
  constexpr double kPerElement = 1e-7;
  double elements = 0;
  for (const DumpEntry& entry : record.entries) {
    if (entry.problem.empty()) elements += static_cast<double>(entry.desc.elements());
  }
  return elements * kPerElement;
}

}  // namespace

SharedJudging::SharedJudging(Ranks& ranks, DumpSource& file,
                             const std::vector<const DumpRecord*>& records, const OpTable& table,
                             const JudgeOptions& options)
    : ranks_(ranks), file_(file), records_(records), table_(table), options_(options) {
  std::string all;
  for (const DumpRecord* record : records_)
    all += fmt::format("{}/{}\n", record->op, record->seq_text);
  plan_ = fmt::format("{} records, {:016x}", records_.size(), checksum(all.data(), all.size()));
}

std::string SharedJudging::work(std::string_view unit) const {
  Unpacker packed(unit);
  const auto number = packed.get<std::size_t>();
  const std::string named = packed.get_text();
  std::vector<JudgedCall> calls;
  const NamingRule naming = [&](const JudgedCall& call) {
    calls.push_back(call);
    if (!named.empty()) return named.at(calls.size() - 1) != 0;
    return options_.implementations == NameImplementations::all ||
           (options_.implementations == NameImplementations::some && call.is_wrong);
  };
  JudgedRecord judged;
  with_threads(options_.threads, [&] {
    judged = judge_record(file_, *records_.at(number), table_, options_, naming);
  });
  return pack_all(judged, calls);
}

void SharedJudging::serve() const {
  const UnitWork doing = [this](std::string_view unit) { return work(unit); };
  if (opbench::serve(ranks_, plan_, doing)) opbench::serve(ranks_, plan_, doing);
}

void SharedJudging::run(UnitQueue& units, const std::vector<std::size_t>& numbers,
                        std::vector<Answer>& answers, PicturedRecords& pictured,
                        const DispatchHooks& hooks) const {
  DispatchHooks taking = hooks;
  taking.done = [&](std::size_t unit, const std::string& result) {
    Answer& answer = answers[numbers[unit]];
    answer.is_there = true;
    Unpacker(result).fields(answer.record, answer.calls);
    const auto dropped = pictured.add(numbers[unit], answer.record);
    if (dropped) answers[*dropped].record.drop_pictures();
  };
  dispatch(
      ranks_, plan_, units, [this](std::string_view unit) { return work(unit); }, taking);
}

// Units for records with a correct call for which variants run.
UnitQueue SharedJudging::second_round(const std::vector<Answer>& answers,
                                      std::vector<std::size_t>& numbers) const {
  UnitQueue units;
  UsualNaming naming(options_.implementations);
  if (options_.implementations != NameImplementations::some) return units;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::string named;
    bool is_any = false;
    for (const JudgedCall& call : answers[i].calls) {
      named.push_back(static_cast<char>(naming(call)));
      is_any |= named.back() != 0 && !call.is_wrong;
    }
    if (!is_any) continue;
    numbers.push_back(i);
    units.add(pack_all(i, named), 10 * seconds_of(*records_[i]));
  }
  return units;
}

std::vector<JudgedRecord> SharedJudging::judge(
    const std::function<void(std::size_t done, std::size_t all)>& progress,
    const std::function<bool()>& stop) const {
  UnitQueue units;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    numbers.push_back(i);
    units.add(pack_all(i, std::string()), seconds_of(*records_[i]));
  }
  std::vector<Answer> answers(records_.size());
  DispatchHooks hooks;
  hooks.stop = stop;
  hooks.progress = [&](const DispatchState& state) {
    progress(std::min(state.done, records_.size() - 1), records_.size());
  };
  PicturedRecords pictured;
  run(units, numbers, answers, pictured, hooks);
  std::vector<std::size_t> named;
  UnitQueue again = second_round(answers, named);
  hooks.progress = {};
  run(again, named, answers, pictured, hooks);
  std::vector<JudgedRecord> judged;
  for (Answer& answer : answers) {
    if (answer.is_there) judged.push_back(std::move(answer.record));
  }
  return judged;
}

}  // namespace opbench
