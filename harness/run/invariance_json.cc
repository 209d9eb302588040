#include "harness/run/invariance_json.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

Json cell_value(const InvarianceCell& cell) {
  Json value = {{"state", name(cell.state)}};
  if (!cell.first.place.empty()) {
    value["how"] = cell.first.how;
    value["place"] = cell.first.place;
    value["here"] = cell.first.here;
    value["there"] = cell.first.there;
  }
  if (cell.state == InvarianceCell::not_applicable && !cell.reason.empty()) {
    value["reason"] = cell.reason;
  }
  return value;
}

Json row_value(const InvarianceRow& row) {
  Json value = {{"case", row.case_id}, {"variant", row.variant}};
  if (!row.refusal.empty()) {
    value["refusal"] = row.refusal;
    return value;
  }
  for (std::size_t i = 0; i < kInvariances; ++i) {
    value["cells"][std::string(name(static_cast<Invariance>(i)))] = cell_value(row.cells[i]);
  }
  return value;
}

}  // namespace

void write_invariance_json(std::ostream& out, std::span<const InvarianceRow> rows) {
  Json file = {{"rows", Json::array()}};
  for (const InvarianceRow& row : rows) file["rows"].push_back(row_value(row));
  out << file.dump(2) << '\n';
}

}  // namespace opbench
