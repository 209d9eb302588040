#include "harness/spec/lowered_forms.h"

namespace opbench {

std::vector<std::string_view> lowered_forms(std::string_view op) {
  if (op == "split") return {"native"};
  if (op == "cat_shuffle" || op == "cat_shuffle_split") return {"native", "full", "half"};
  if (op == "cat_shuffle_grad" || op == "cat_shuffle_split_grad") {
    return {"native", "index_add", "full", "half"};
  }
  return {};
}

}  // namespace opbench
