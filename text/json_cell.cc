#include "text/json_cell.h"

#include <nlohmann/json.hpp>

#include "text/json_number.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

struct ValueOfCell {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(double number) const { return finite_or_null(number); }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(bool value) const { return value; }
};

}  // namespace

Json cell_value(const Cell& cell) { return std::visit(ValueOfCell{}, cell); }

}  // namespace opbench
