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

/// The files with the tensors of a record. The inputs of a dump made in load mode are in another
/// file, that of the run with these inputs.
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

  /// Bytes that loading needs.
  static std::size_t bytes(const RecordedCall& call);
  /// Errors: those of load_recorded.
  static LoadedCall load(const RecordFiles& files, const RecordedCall& call);
};

/// The errors of an output for a drawing on a page.
struct ErrorPicture {
  ErrorHistogram histogram;
  ErrorMap map;
};

/// The result for one recorded output.
struct OutputFinding {
  std::string path;  ///< in the file
  std::string op;    ///< ours, which it was recomputed by
  bool is_wrong = false;
  std::string reason;         ///< if it is wrong: the deciding number, the worst place, both values
  std::string pattern;        ///< what wrong elements have in common, if it is known
  std::vector<Cause> causes;  ///< what usually makes an output wrong like this
  std::shared_ptr<const ErrorPicture> picture;  ///< if it is wrong; null: left out
  std::string formula;   ///< the tolerance or bound that it was checked against
  std::string numerics;  ///< "fp16 operands": what it is right for, where plain fp32 is not it
  std::int64_t elements = 0;
  std::int64_t wrong_elements = 0;
  double min_tolerance = 0;  ///< the smallest that would pass

  // Set if the output is wrong: the worst element and its values.
  std::int64_t worst_element = -1;  ///< in row-major order; -1: no single one is to blame
  double worst_actual = 0, worst_expected = 0;
  bool is_inconclusive = false;  ///< the control proves nothing: the reason says why
  bool is_leaning = false;       ///< the rounding leans to one side; each element may be well
  /// An element is wrong if |actual - expected| > allowed + allowed_share * |expected|. Both are 0
  /// if elements must be equal.
  double allowed = 0, allowed_share = 0;
};

/// The strictness of the judge.
struct JudgeRules {
  /// Allows the arithmetic of devices: products in fp32 with narrower operands, and fp16 that
  /// saturates.
  bool allows_device_numerics = true;
  OutputRule outputs = {};  ///< the rule for rounded outputs
};

/// Computes the call in fp64 from the recorded inputs. Compares the recorded outputs with the range
/// of correct kernels: the mixed standard, with the scale of the output and the terms of its sums.
/// Rounding in fp16 and bf16 must not lean to one side. Errors: throws Error if an operator refuses
/// the values, such as an index beyond its axis.
std::vector<OutputFinding> judge_call(const LoadedCall& loaded, const JudgeRules& rules);

}  // namespace opbench
