#include "harness/run/recorded_inputs.h"

#include "judge/recorded_values.h"

namespace opbench {

void RecordedInputs::fill(std::size_t input, const TensorDesc& desc, void* to) const {
  read_recorded(file_, *call_->inputs[input], desc, to);
}

}  // namespace opbench
