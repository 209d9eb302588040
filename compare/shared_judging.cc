#include "compare/shared_judging.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/buffer.h"
#include "tensor/parallel.h"
#include "text/packed.h"

namespace opbench {
namespace {

// A unit: the record's number and, in the second round, whether each of its calls is named.
std::string unit_of(std::size_t record, const std::string& named) {
  Packer packer;
  packer.add(static_cast<std::uint64_t>(record));
  packer.add(named);
  return packer.take();
}

void pack(Packer& packer, const std::vector<double>& numbers) {
  packer.add(static_cast<std::uint64_t>(numbers.size()));
  for (const double number : numbers) packer.add(number);
}

std::vector<double> unpack_numbers(Unpacker& packed) {
  std::vector<double> numbers(packed.get<std::uint64_t>());
  for (double& number : numbers) number = packed.get<double>();
  return numbers;
}

void pack(Packer& packer, const ErrorPicture& picture) {
  packer.add(picture.histogram.exact);
  for (std::size_t i = 0; i < ErrorHistogram::kBuckets; ++i) {
    packer.add(picture.histogram.counts[i]);
  }
  const ErrorMap& map = picture.map;
  packer.add(map.rows), packer.add(map.columns);
  packer.add(map.row_step), packer.add(map.column_step);
  pack(packer, map.errors);
  packer.add(static_cast<std::uint64_t>(map.axes.size()));
  for (std::size_t i = 0; i < map.axes.size(); ++i) {
    packer.add(map.shape[i]);
    pack(packer, map.axes[i].by_remainder);
    packer.add(map.axes[i].last), packer.add(map.axes[i].before_last);
  }
}

std::shared_ptr<const ErrorPicture> unpack_picture(Unpacker& packed) {
  auto picture = std::make_shared<ErrorPicture>();
  picture->histogram.exact = packed.get<std::int64_t>();
  for (std::size_t i = 0; i < ErrorHistogram::kBuckets; ++i) {
    if (const auto count = packed.get<std::int64_t>(); count > 0) {
      picture->histogram.counts.add(i, count);
    }
  }
  ErrorMap& map = picture->map;
  for (std::size_t* number : {&map.rows, &map.columns, &map.row_step, &map.column_step}) {
    *number = packed.get<std::size_t>();
  }
  map.errors = unpack_numbers(packed);
  map.axes.resize(packed.get<std::uint64_t>());
  for (AxisErrors& axis : map.axes) {
    map.shape.push_back(packed.get<Dims::value_type>());
    axis.by_remainder = unpack_numbers(packed);
    axis.last = packed.get<double>(), axis.before_last = packed.get<double>();
  }
  return picture;
}

void pack(Packer& packer, const OutputFinding& finding) {
  for (const std::string* text : {&finding.path, &finding.op, &finding.reason, &finding.pattern,
                                  &finding.formula, &finding.numerics}) {
    packer.add(*text);
  }
  packer.add(finding.is_wrong), packer.add(finding.elements), packer.add(finding.wrong_elements);
  packer.add(finding.min_tolerance), packer.add(finding.worst_element);
  packer.add(finding.worst_actual), packer.add(finding.worst_expected);
  packer.add(finding.is_inconclusive), packer.add(finding.is_leaning);
  packer.add(finding.allowed), packer.add(finding.allowed_share);
  packer.add(static_cast<std::uint64_t>(finding.causes.size()));
  for (const Cause& cause : finding.causes) packer.add(cause.rule), packer.add(cause.text);
  packer.add(finding.picture != nullptr);
  if (finding.picture != nullptr) pack(packer, *finding.picture);
}

OutputFinding unpack_finding(Unpacker& packed) {
  OutputFinding finding;
  for (std::string* text : {&finding.path, &finding.op, &finding.reason, &finding.pattern,
                            &finding.formula, &finding.numerics}) {
    *text = packed.get_text();
  }
  const auto get = [&](auto& value) {
    value = packed.get<std::remove_reference_t<decltype(value)>>();
  };
  get(finding.is_wrong), get(finding.elements), get(finding.wrong_elements);
  get(finding.min_tolerance), get(finding.worst_element);
  get(finding.worst_actual), get(finding.worst_expected);
  get(finding.is_inconclusive), get(finding.is_leaning), get(finding.allowed),
      get(finding.allowed_share);
  for (auto left = packed.get<std::uint64_t>(); left > 0; --left) {
    const std::string rule = packed.get_text();
    finding.causes.push_back({rule, packed.get_text()});
  }
  if (packed.get<bool>()) finding.picture = unpack_picture(packed);
  return finding;
}

void pack(Packer& packer, const JudgedRecord& record) {
  for (const std::string* text : {&record.op, &record.seq, &record.implementation, &record.reason,
                                  &record.device, &record.dtype, &record.module, &record.source}) {
    packer.add(*text);
  }
  packer.add(record.ruling), packer.add(record.elements), packer.add(record.judged);
  packer.add(static_cast<std::uint64_t>(record.findings.size()));
  for (const OutputFinding& finding : record.findings) pack(packer, finding);
}

JudgedRecord unpack_record(Unpacker& packed) {
  JudgedRecord record;
  for (std::string* text : {&record.op, &record.seq, &record.implementation, &record.reason,
                            &record.device, &record.dtype, &record.module, &record.source}) {
    *text = packed.get_text();
  }
  record.ruling = packed.get<Ruling>();
  record.elements = packed.get<std::int64_t>();
  record.judged = packed.get<std::int64_t>();
  for (auto left = packed.get<std::uint64_t>(); left > 0; --left) {
    record.findings.push_back(unpack_finding(packed));
  }
  return record;
}

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
  const auto number = static_cast<std::size_t>(packed.get<std::uint64_t>());
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
  Packer packer;
  pack(packer, judged);
  for (const JudgedCall& call : calls) {
    packer.add(call.op);
    packer.add(call.dtype);
    packer.add(call.is_wrong);
  }
  return packer.take();
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
    Unpacker packed(result);
    Answer& answer = answers[numbers[unit]];
    answer = {true, unpack_record(packed), {}};
    const auto dropped = pictured.add(numbers[unit], answer.record);
    if (dropped) answers[*dropped].record.drop_pictures();
    while (!packed.is_empty()) {
      JudgedCall& call = answer.calls.emplace_back();
      call.op = packed.get_text();
      call.dtype = packed.get<DType>();
      call.is_wrong = packed.get<bool>();
    }
  };
  dispatch(
      ranks_, plan_, units, [this](std::string_view unit) { return work(unit); }, taking);
}

// Records with a right call that is named.
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
    units.add(unit_of(i, named), 10 * seconds_of(*records_[i]));
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
    units.add(unit_of(i, ""), seconds_of(*records_[i]));
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
