#include "harness/selftest/json.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

std::string_view state_name(InvarianceCell::State state) {
  constexpr std::string_view kNames[] = {"same", "near", "open", "differs", "not applicable"};
  return kNames[state];
}

Json cell_value(const InvarianceCell& cell) {
  Json value = {{"state", state_name(cell.state)}};
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

Json mutation_value(const MutationRow& row) {
  Json value = {{"name", row.mutation->name}, {"effective", row.effective}};
  for (std::size_t i = 0; i < kAuditStandards.size(); ++i) {
    value["killed"][std::string(kAuditStandards[i])] = row.killed[i];
  }
  value["defects"] = row.defects - row.equivalent;
  value["equivalent"] = row.equivalent;
  value["seen"] = row.seen;
  return value;
}

Json audit_value(const OperatorAudit& audit) {
  Json value = {{"op", audit.op}, {"variant", audit.variant}, {"cases", audit.cases}};
  for (const MutationRow& row : audit.rows) value["mutations"].push_back(mutation_value(row));
  value["honest_runs"] = audit.honest_runs;
  value["false_failures"] = audit.false_failure_count;
  return value;
}

}  // namespace

void write_invariance_json(std::ostream& out, std::span<const InvarianceRow> rows) {
  Json file = {{"rows", Json::array()}};
  for (const InvarianceRow& row : rows) file["rows"].push_back(row_value(row));
  out << file.dump(2) << '\n';
}

void write_audit_json(std::ostream& out, std::span<const OperatorAudit> audits) {
  Json file = {{"operators", Json::array()}};
  for (const OperatorAudit& audit : audits) file["operators"].push_back(audit_value(audit));
  out << file.dump(2) << '\n';
}

}  // namespace opbench
