#include "ops/choice.h"

namespace opbench {

const IndexChoice* find_choice(std::string_view op) {
  for (const IndexChoice* choice : RegisteredChoice::all()) {
    if (choice->op == op) return choice;
  }
  return nullptr;
}

std::vector<InputReader> with_chosen(const Op& op, std::vector<InputReader> inputs,
                                     const InputReader& chosen) {
  static const TensorDesc absent = describe(DType::fp32, {0});
  inputs.resize(op.inputs.size(), InputReader(absent, nullptr));
  inputs.push_back(chosen);
  return inputs;
}

}  // namespace opbench
