#include "compare/record_judge.h"

#include <fmt/format.h>

#include "compare/implementation.h"
#include "judge/recorded_values.h"
#include "tensor/error.h"
#include "text/byte_size.h"

namespace opbench {
namespace {

class RecordJudge {
 public:
  RecordJudge(DumpSource& file, const OpTable& table, const JudgeOptions& options,
              const NamingRule& naming)
      : file_(file), table_(table), options_(options), naming_(naming) {}

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
    // Asked for every call, whatever was found out about those before.
    const Problem& problem = call.problem;
    const bool is_named =
        naming_({std::string(problem.op->name), problem.outputs[0].dtype, is_wrong});
    if (is_named && judged.implementation.empty()) {
      judged.implementation = implementation_of(loaded, options_.threads);
    }
  }

  static void settle(JudgedRecord& judged) {
    if (judged.ruling == Ruling::random || judged.findings.empty()) return;
    judged.ruling = judged.worst() != nullptr ? Ruling::guilty : Ruling::ok;
    judged.reason.clear();
  }

  DumpSource& file_;
  const OpTable& table_;
  const JudgeOptions& options_;
  const NamingRule& naming_;
};

}  // namespace

bool UsualNaming::operator()(const JudgedCall& call) {
  if (which_ != NameImplementations::some || call.is_wrong) {
    return which_ != NameImplementations::none;
  }
  return named_.emplace(call.op, call.dtype).second;
}

JudgedRecord judge_record(DumpSource& file, const DumpRecord& record, const OpTable& table,
                          const JudgeOptions& options, const NamingRule& naming) {
  return RecordJudge(file, table, options, naming).judge(record);
}

}  // namespace opbench
