#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/analysis.h"
#include "compare/build_comparison.h"
#include "compare/match_dumps.h"
#include "judge/standards.h"
#include "tensor/error.h"
#include "tests/compare/dump_records.h"
#include "tests/compare/pair_support.h"

namespace opbench::compare_tests {

/// The measures of two float32 tensors under `standard`.
inline PairMeasures measured(const std::vector<float>& actual, const std::vector<float>& expected,
                             const Standard& standard) {
  return measure_one(float_pair(actual, expected, standard.tolerance));
}

/// The standard with the text `text`, for `dtype`.
inline Standard standard(const std::string& text, DType dtype = DType::fp32) {
  return standard_for(builtin_standards(), parse_standard(text), "Op", dtype);
}

/// Values of length 5.
inline const std::vector<float> kTrue = {3, 4, 0};

/// A tensor of a record, with its values in both dumps.
struct Values {
  std::string path;  ///< for example "input/x"
  std::vector<float> actual, expected;
};

/// A record that both dumps hold.
struct CallValues {
  std::string op, seq;
  std::vector<Values> tensors;
};

/// A comparison of hand-made dumps. It owns them.
struct HandMade {
  std::vector<DumpRecord> actual, expected;
  Comparison comparison;

  HandMade() = default;
  HandMade(HandMade&&) = default;
  HandMade(const HandMade&) = delete;  // has pointers to its own members
};

inline std::vector<DumpRecord> records_of(DeviceType device, const std::vector<CallValues>& calls,
                                          std::vector<float> Values::*side) {
  std::vector<DumpRecord> made;
  for (const CallValues& call : calls) {
    DumpRecord record{call.op, call.seq, std::stoll(call.seq), {}, {}};
    for (const Values& values : call.tensors) {
      const auto count = static_cast<std::int64_t>((values.*side).size());
      if (count == 0) continue;  // the record is only in the other dump
      record.entries.push_back(entry(call.op, call.seq, values.path, device, {count}));
    }
    made.push_back(std::move(record));
  }
  return made;
}

inline const Values& values_of(const std::vector<CallValues>& calls, const TensorMatch& match) {
  const std::string& path = match.actual ? match.actual->path : match.expected->path;
  for (const CallValues& call : calls) {
    for (const Values& values : call.tensors) {
      if (path == "/" + call.op + "/" + call.seq + "/" + values.path) return values;
    }
  }
  throw Error("no such tensor");
}

/// Matches, measures, judges and analyses the records. A side without values is not in that dump.
inline HandMade compare(const std::vector<CallValues>& calls, const std::string& typed = "mixed") {
  HandMade sample;
  sample.actual = records_of(DeviceType::npu, calls, &Values::actual);
  sample.expected = records_of(DeviceType::cuda, calls, &Values::expected);
  Comparison& comparison = sample.comparison;
  comparison.actual.path = "npu.h5";
  comparison.expected.path = "gpu.h5";
  comparison.standard = parse_standard(typed);
  comparison.is_load_mode = is_load_mode(sample.actual);
  comparison.operators = plan_results(
      match_dumps({sample.actual, {}}, {sample.expected, {}}, NameMap{}),
      {builtin_standards(), comparison.standard, {"npu.h5", "gpu.h5"}, comparison.is_load_mode});
  for (OperatorResult& op : comparison.operators) {
    for (TensorResult& tensor : op.tensors) {
      if (!is_waiting(tensor)) continue;
      const Values& values = values_of(calls, tensor.match);
      add_measures(tensor, measured(values.actual, values.expected, tensor.standard));
    }
  }
  analyse(comparison);
  return sample;
}

}  // namespace opbench::compare_tests
