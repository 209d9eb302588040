#include "cli/swept_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "tensor/error.h"

namespace opbench {
namespace {

using Texts = std::vector<std::string>;

// Splits "N=1,2" into "N=1" and "N=2". Other text is returned unchanged, and refused by the parser.
Texts values_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || text.find(',', equals) == text.npos) return {text};
  const std::string name = text.substr(0, equals + 1);
  Texts values;
  for (std::size_t begin = equals + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(name + text.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

}  // namespace

std::vector<SelectionText> swept(const SelectionText& text) {
  constexpr std::size_t kMost = 1000;
  std::vector<SelectionText> result = {text};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (selection_fields()[i].flag != std::string_view("--set")) continue;
    const Texts& given = std::get<Texts>(text[i]);
    for (std::size_t k = 0; k < given.size(); ++k) {
      std::vector<SelectionText> more;
      for (const SelectionText& one : result) {
        for (std::string& value : values_of(given[k])) {
          more.push_back(one);
          std::get<Texts>(more.back()[i])[k] = std::move(value);
        }
      }
      if (more.size() > kMost) {
        throw Error(fmt::format("--set gives more than {} combinations of values", kMost));
      }
      result = std::move(more);
    }
  }
  return result;
}

std::vector<WorkUnit> swept_plan(const SelectionText& text) {
  std::vector<WorkUnit> units;
  std::set<std::string> ids;
  for (const SelectionText& one : swept(text)) {
    for (WorkUnit& unit : make_plan(read_selection(one))) {
      if (ids.insert(unit.id).second) units.push_back(std::move(unit));
    }
  }
  std::stable_partition(units.begin(), units.end(),
                        [](const WorkUnit& unit) { return !unit.is_context(); });
  return units;
}

}  // namespace opbench
