#include "harness/judge/judge_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/judge/implementation.h"
#include "harness/judge/recorded_values.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/byte_size.h"

namespace opbench {
namespace {

// How many right records of one operator and dtype are held against all variants by default.
constexpr int kNamedRecords = 1;

/// Judges the records of one dump.
class DumpJudge {
 public:
  DumpJudge(DumpSource& file, const OpTable& table, const JudgeOptions& options)
      : file_(file), table_(table), options_(options) {}

  JudgedRecord judge(const DumpRecord& record) {
    JudgedRecord judged = begin(record);
    try {
      const RecordedCalls calls = calls_of(
          record, table_, [&](const DumpEntry& entry) { return recorded_numbers(file_, entry); });
      judged.reason = calls.obstacle;
      if (calls.is_random) judged.ruling = Ruling::random;
      for (const RecordedCall& call : calls.calls) judge_call_of(call, judged);
    } catch (const Error& error) {
      judged.reason = error.what();
    }
    settle(judged);
    return judged;
  }

 private:
  static JudgedRecord begin(const DumpRecord& record) {
    JudgedRecord judged;
    judged.op = record.op;
    judged.seq = record.seq_text;
    for (const DumpEntry& entry : record.entries) {
      if (entry.side != Side::output || entry.kind != EntryKind::tensor) continue;
      if (judged.dtype.empty()) judged.dtype = name(entry.desc.dtype);
      if (judged.device.empty()) judged.device = to_string(entry.device);
      judged.elements += entry.desc.elements();
    }
    return judged;
  }

  void judge_call_of(const RecordedCall& call, JudgedRecord& judged) {
    const std::size_t bytes = LoadedCall::bytes(call);
    if (bytes > options_.memory) {
      judged.reason =
          fmt::format("its tensors take {}, and --memory allows {}", byte_size_text(double(bytes)),
                      byte_size_text(double(options_.memory)));
      return;
    }
    const LoadedCall loaded = LoadedCall::load(file_, call);
    bool is_wrong = false;
    for (OutputFinding& finding : opbench::judge_call(loaded, options_.rules)) {
      judged.judged += finding.elements;
      is_wrong |= finding.is_wrong;
      judged.findings.push_back(std::move(finding));
    }
    if (judged.implementation.empty() && is_named(call, is_wrong)) {
      judged.implementation = implementation_of(loaded, options_.threads);
    }
  }

  bool is_named(const RecordedCall& call, bool is_wrong) {
    if (options_.implementations != NameImplementations::some || is_wrong) {
      return options_.implementations != NameImplementations::none;
    }
    const Problem& problem = call.problem;
    return ++named_[{problem.op, problem.outputs[0].dtype}] <= kNamedRecords;
  }

  static void settle(JudgedRecord& judged) {
    if (judged.ruling == Ruling::random || judged.findings.empty()) return;
    judged.ruling = judged.worst() != nullptr ? Ruling::guilty : Ruling::carries;
    judged.reason.clear();
  }

  DumpSource& file_;
  const OpTable& table_;
  const JudgeOptions& options_;
  std::map<std::pair<const Op*, DType>, int> named_;
};

}  // namespace

std::string_view name(Ruling ruling) {
  switch (ruling) {
    case Ruling::carries:
      return "CARRIES";
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

JudgedRecord judge_record(DumpSource& file, const DumpRecord& record, const OpTable& table,
                          const JudgeOptions& options) {
  JudgedRecord judged;
  with_threads(options.threads, [&] { judged = DumpJudge(file, table, options).judge(record); });
  return judged;
}

JudgedDump judge_dump(DumpSource& file, const OpTable& table, const JudgeOptions& options,
                      const std::function<void(std::size_t done, std::size_t all)>& progress,
                      const std::function<bool()>& stop) {
  JudgedDump judged;
  judged.file = file.name();
  std::vector<const DumpRecord*> records;
  for (const DumpRecord& record : file.records()) {
    if (!options.only || options.only(record.op)) records.push_back(&record);
  }
  judged.problems = file.problems();
  std::stable_sort(records.begin(), records.end(), [](const DumpRecord* a, const DumpRecord* b) {
    return std::tuple(!a->seq.has_value(), a->seq.value_or(0)) <
           std::tuple(!b->seq.has_value(), b->seq.value_or(0));
  });
  DumpJudge judge(file, table, options);
  with_threads(options.threads, [&] {
    for (std::size_t i = 0; i < records.size() && !stop(); ++i) {
      progress(i, records.size());
      judged.records.push_back(judge.judge(*records[i]));
    }
  });
  return judged;
}

}  // namespace opbench
