#include "compare/minimise.h"

#include "compare/axis_cuts.h"
#include "compare/part_cuts.h"
#include "compare/window_cuts.h"

namespace opbench {

std::int64_t minimise(Witness& witness, const JudgeRules& rules,
                      const std::function<bool()>& stop) {
  Cutting cutting(witness, rules, stop);
  cutting.make_plain();
  std::int64_t before = 0;
  do {
    before = witness.elements();
    cut_elements(cutting);
    cut_input_list(cutting);
    cut_groups(cutting);
    cut_output_axes(cutting);
    cut_windows(cutting);
    cut_hidden_axes(cutting);
  } while (witness.elements() < before && !stop());
  return cutting.trials();
}

}  // namespace opbench
