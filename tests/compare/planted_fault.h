#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/minimise.h"
#include "compare/witness_origin.h"
#include "dump/dump_writer.h"
#include "harness/plan/case.h"
#include "harness/run/run_dump.h"
#include "tensor/elements.h"
#include "tests/support/temp_dir.h"

namespace opbench {

/// A dump of one record: a case with its own data and the correct output, in which a fault is
/// planted.
class PlantedFault : protected TempDir {
 public:
  using Values = std::vector<double>;
  using Fault = std::function<void(Values& output, const Dims& shape)>;

  /// The data of an input: irregular multiples of 1/16. Indices count up to `places`.
  std::function<double(std::size_t input, std::int64_t element)> data = [](std::size_t input,
                                                                           std::int64_t i) {
    return double((i * 37 + std::int64_t(input) * 11 + i / 7 * 5) % 101 - 50) / 16;
  };
  std::int64_t places = 0;  ///< range of the indices
  /// Converts an exact value to the recorded value. It rounds to nearest by default.
  std::function<double(double)> rounding = [](double value) { return value; };

  /// Writes the dump and reads it. Returns the wrong record, if there is one.
  std::optional<GuiltyCall> guilty(const std::string& case_text, const Fault& fault,
                                   std::size_t output = 0) {
    write(case_text, fault, output);
    source_ = std::make_unique<DumpSource>(path("d.h5"));
    JudgedRecord judged;
    std::optional<GuiltyCall> found =
        guilty_call(*source_, source_->records().at(0), OpTable::builtin(), JudgeOptions{}, judged);
    EXPECT_TRUE(found) << name(judged.ruling) << ' ' << judged.reason;
    return found;
  }

  /// Minimises the record and returns the number of remaining elements.
  std::int64_t least(const std::string& case_text, const Fault& fault, std::size_t output = 0) {
    std::optional<GuiltyCall> found = guilty(case_text, fault, output);
    if (!found) return -1;
    minimise(found->witness, JudgeRules{}, [] { return false; });
    witness = std::make_unique<Witness>(std::move(found->witness));
    return witness->elements();
  }

  std::unique_ptr<Witness> witness;  ///< result of the last `least`

 private:
  void write(const std::string& case_text, const Fault& fault, std::size_t output) {
    const Problem problem = problem_of(parse_case_id(case_text));
    const Op& op = *problem.op;
    DumpWriter writer(path("d.h5"));
    writer.begin_record(op.ir_name, DeviceType::npu, {call_note(problem)}, 7);
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      inputs.push_back(input(problem.inputs[i], i));
      writer.write_input(op.input_path(i), problem.inputs[i], inputs.back().data());
    }
    write_attributes(writer, problem.attrs);
    for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
      Values values = right(problem, inputs, i);
      if (i == output) fault(values, problem.outputs[i].shape);
      const Tensor recorded = stored(problem.outputs[i], values);
      writer.write_output(op.output_path(problem, i), problem.outputs[i], recorded.data());
    }
    writer.finish();
  }

  static Tensor stored(const TensorDesc& desc, const Values& values) {
    std::vector<std::byte> dense(values.size() * size_of(desc.dtype));
    from_doubles(desc.dtype, values.data(), std::ssize(values), dense.data());
    Tensor tensor(desc);
    write_elements(desc, tensor.data(), {0, desc.elements()}, dense.data());
    return tensor;
  }

  Tensor input(const TensorDesc& desc, std::size_t i) const {
    Values values(static_cast<std::size_t>(desc.elements()));
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto element = static_cast<std::int64_t>(k);
      values[k] = is_floating(desc.dtype) ? data(i, element) : double((element * 7 + 3) % places);
    }
    return stored(desc, values);
  }

  Values right(const Problem& problem, const std::vector<Tensor>& inputs,
               std::size_t output) const {
    std::vector<InputReader> readers;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      readers.emplace_back(problem.inputs[i], inputs[i].data());
    }
    const TensorDesc& desc = problem.outputs[output];
    Values values(static_cast<std::size_t>(desc.elements()));
    const ElementRange all{0, desc.elements()};
    if (problem.op->exact_reference != nullptr) {
      Tensor exact(describe(desc.dtype, desc.shape));
      problem.op->exact_reference(readers, problem.attrs)(output, all, exact.data());
      to_doubles(desc.dtype, exact.data(), all.count, values.data());
    } else {
      problem.op->reference(readers, problem.attrs)(output, all, values);
    }
    for (double& value : values) value = rounding(value);
    return values;
  }

  std::unique_ptr<DumpSource> source_;
};

}  // namespace opbench
