#include "compare/comparison.h"

#include <cmath>

namespace opbench {

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::none:
      return "";
    case Origin::introduced:
      return "introduced";
    case Origin::inherited:
      return "inherited";
    case Origin::rounding:
      return "rounding";
    case Origin::repaired:
      return "repaired";
    case Origin::unknown:
      break;
  }
  return "unknown";
}

double TensorResult::relative_error() const {
  if (stats.nan_mismatches + stats.inf_mismatches > 0) return HUGE_VAL;
  if (stats.sum_sq == 0) return 0;
  return static_cast<double>(std::sqrt(stats.sum_sq / stats.sum_expected_sq));
}

std::string OperatorResult::op() const {
  if (actual != nullptr) return actual->op;
  return expected != nullptr ? expected->op : std::string();
}

std::string OperatorResult::seq() const {
  if (actual != nullptr) return actual->seq_text;
  return expected != nullptr ? expected->seq_text : std::string();
}

std::string OperatorResult::recorded_note(std::string_view name) const {
  const DumpRecord* const record = actual != nullptr ? actual : expected;
  const std::string* const found = record != nullptr ? record->note(name) : nullptr;
  return found != nullptr ? *found : std::string();
}

}  // namespace opbench
