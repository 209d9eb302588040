#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dump/dump_source.h"
#include "harness/plan/recorded_call.h"
#include "judge/causes.h"
#include "judge/error_map.h"
#include "judge/judge_output.h"
#include "judge/pair_stats.h"
#include "tensor/tensor.h"

namespace opbench {

/// Where the tensors of a record are read from: of a dump made in load mode the inputs stand in
/// another file, that of the run whose inputs it took.
struct RecordFiles {
  // NOLINTNEXTLINE(google-explicit-constructor)
  RecordFiles(DumpSource& file) : inputs(file), outputs(file) {}
  RecordFiles(DumpSource& of_inputs, DumpSource& of_outputs)
      : inputs(of_inputs), outputs(of_outputs) {}

  DumpSource &inputs, &outputs;
};

/// A recorded call in memory: the tensors of its problem.
struct LoadedCall {
  const RecordedCall* call = nullptr;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;  ///< those that are not recorded have no elements

  /// Bytes that loading takes.
  static std::size_t bytes(const RecordedCall& call);
  /// Errors: those of load_recorded.
  static LoadedCall load(const RecordFiles& files, const RecordedCall& call);
};

/// How an output is off, as a page draws it.
struct ErrorPicture {
  ErrorHistogram histogram;
  ErrorMap map;
};

/// What was found on one recorded output.
struct OutputFinding {
  std::string path;  ///< in the file
  std::string op;    ///< ours, which it was recomputed by
  bool is_wrong = false;
  std::string reason;         ///< if it is wrong: the deciding number, the worst place, both values
  std::string pattern;        ///< what wrong elements have in common, if it is known
  std::vector<Cause> causes;  ///< what usually makes an output wrong like this
  std::shared_ptr<const ErrorPicture> picture;  ///< if it is wrong; null: left out
  std::string formula;                          ///< what it was held to
  std::string numerics;  ///< "fp16 operands": what it is right for, where plain fp32 is not it
  std::int64_t elements = 0;
  std::int64_t wrong_elements = 0;
  double min_tolerance = 0;  ///< the smallest that would pass

  // Of what is wrong: where, and by what an element is.
  std::int64_t worst_element = -1;  ///< in row-major order; -1: no single one is to blame
  double worst_actual = 0, worst_expected = 0;
  bool is_inconclusive = false;  ///< the control proves nothing: the reason says why
  bool is_leaning = false;       ///< the rounding leans to one side; each element may be well
  /// An element is wrong if |actual - expected| > allowed + allowed_share * |expected|; both 0:
  /// what is not the same.
  double allowed = 0, allowed_share = 0;
};

/// How strictly dumps are judged.
struct JudgeRules {
  /// Products in fp32 may have been made of narrower operands, and fp16 may saturate, as on the
  /// device.
  bool allows_device_numerics = true;
  OutputRule outputs = {};  ///< the rule for rounded outputs
};

/// Computes the call in fp64 from the inputs that were recorded, and holds the recorded outputs to
/// what a right kernel may leave there: the mixed standard, by the scale of the output and the
/// terms of its sums, and in fp16 and bf16 no rounding that leans to one side. Errors: throws Error
/// if an operator refuses the values, such as an index beyond its axis.
std::vector<OutputFinding> judge_call(const LoadedCall& loaded, const JudgeRules& rules);

}  // namespace opbench
