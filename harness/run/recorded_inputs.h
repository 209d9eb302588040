#pragma once

#include <memory>

#include "dump/dump_source.h"
#include "harness/plan/recorded_call.h"
#include "harness/run/input_source.h"

namespace opbench {

/// The inputs of a recorded call, read whenever they are wanted. Errors of `fill`: those of
/// DumpSource::read.
class RecordedInputs : public InputSource {
 public:
  RecordedInputs(DumpSource& file, std::shared_ptr<const RecordedCall> call)
      : file_(file), call_(std::move(call)) {}
  void fill(std::size_t input, const TensorDesc& desc, void* to) const override;

 private:
  DumpSource& file_;
  std::shared_ptr<const RecordedCall> call_;
};

}  // namespace opbench
