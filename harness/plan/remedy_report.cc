#include "harness/plan/remedy_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "tensor/utf8.h"
#include "text/table.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

std::string estimate_text(const std::optional<EstimatedSaving>& estimate) {
  if (!estimate) return {};
  std::string text = fmt::format("; estimated {:.1f} us", estimate->us);
  if (estimate->step_share)
    text += fmt::format(", {:.2f} % of the step", 100 * *estimate->step_share);
  if (!estimate->without.empty()) text += fmt::format(" (without {})", estimate->without);
  return text;
}

// The sum of the estimates of all steps; empty if a step has none.
std::optional<EstimatedSaving> estimate_of(const Remedy& remedy) {
  EstimatedSaving sum;
  for (const RemedyStep& step : remedy.steps) {
    if (!step.estimate) return std::nullopt;
    sum.us += step.estimate->us;
    if (sum.without.empty()) sum.without = step.estimate->without;
    if (step.estimate->step_share) {
      sum.step_share = sum.step_share.value_or(0) + *step.estimate->step_share;
    }
  }
  return remedy.steps.empty() ? std::nullopt : std::optional(sum);
}

Json estimate_value(const std::optional<EstimatedSaving>& estimate) {
  if (!estimate) return nullptr;
  Json value = {{"us", estimate->us}, {"share_of_step", nullptr}, {"without", estimate->without}};
  if (estimate->step_share) value["share_of_step"] = *estimate->step_share;
  return value;
}

void print_steps(std::ostream& out, const Remedy& remedy, const ConsoleStyle& style) {
  TextTable table{columns_of(">#|>TransData|>Cast|>copies|>bytes|step, and what it saves")};
  const auto add = [&](const std::string& step, const PlanCost& cost) {
    table.rows.push_back({fmt::format("{}", table.rows.size()), fmt::format("{}", cost.trans_data),
                          fmt::format("{}", cost.casts), fmt::format("{}", cost.copies),
                          byte_size_text(cost.bytes), step});
  };
  add(remedy.start, remedy.before);
  PlanCost before = remedy.before;
  for (const RemedyStep& step : remedy.steps) {
    add(fmt::format("{}; saves {}{}", changes_text(step), savings_text(before, step.cost),
                    estimate_text(step.estimate)),
        step.cost);
    before = step.cost;
  }
  print_table(out, table, style);
}

// Whole numbers up to a readable length.
std::string settings_text(double settings) {
  constexpr double kLong = 1e7;
  return settings < kLong ? fmt::format("{:.0f}", settings) : fmt::format("{:.1e}", settings);
}

void print_proof(std::ostream& out, const Remedy& remedy, const ConsoleStyle& style) {
  const PlanCost& after = remedy.after();
  const std::string proof = fmt::format(
      "{} of {} settings (graphs {}, plans {}, tasks planned {}, {:.2f} s)",
      remedy.is_proved ? "proved: the minimum" : "not proved: the best found",
      settings_text(remedy.settings), remedy.graphs, remedy.plans, remedy.tasks, remedy.seconds);
  say(out, proof, 2, 2, style.width);
  if (!remedy.bound) return;
  const std::string bound =
      fmt::format("lower bound for all rules: {} TransData, {} Cast; gap: {} TransData, {} Cast",
                  remedy.bound->trans_data, remedy.bound->casts,
                  after.trans_data - remedy.bound->trans_data, after.casts - remedy.bound->casts);
  say(out, bound, 2, 2, style.width);
}

Json cost_value(const PlanCost& cost) {
  return {{"trans_data", cost.trans_data},
          {"casts", cost.casts},
          {"copies", cost.copies},
          {"bytes", cost.bytes},
          {"trans_data_bytes", cost.trans_data_bytes}};
}

Json step_value(const RemedyStep& step) {
  Json changes = Json::array();
  for (const Change& change : step.changes) {
    changes.push_back({{change.is_rule ? "rule" : "variant_of", change.name}, {"to", change.word}});
  }
  return {{"changes", changes},
          {"cost", cost_value(step.cost)},
          {"estimated_saving", estimate_value(step.estimate)}};
}

Json remedy_value(const Remedy& remedy) {
  const PlanCost& after = remedy.after();
  Json steps = Json::array();
  for (const RemedyStep& step : remedy.steps) steps.push_back(step_value(step));
  Json value = {
      {"context", remedy.context},  {"step", remedy.start},  {"before", cost_value(remedy.before)},
      {"after", cost_value(after)}, {"ladder", steps},       {"proved", remedy.is_proved},
      {"lower_bound", nullptr},     {"gap", nullptr},        {"settings", remedy.settings},
      {"graphs", remedy.graphs},    {"plans", remedy.plans}, {"tasks", remedy.tasks},
      {"seconds", remedy.seconds}};
  if (const auto& bound = remedy.bound) {
    value["lower_bound"] = {{"trans_data", bound->trans_data}, {"casts", bound->casts}};
    value["gap"] = {{"trans_data", after.trans_data - bound->trans_data},
                    {"casts", after.casts - bound->casts}};
  }
  return value;
}

}  // namespace

std::string changes_text(const RemedyStep& step) {
  std::vector<std::string> texts;
  for (const Change& change : step.changes) {
    texts.push_back(fmt::format("{}: {}", change.name, change.word));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string savings_text(const PlanCost& before, const PlanCost& after) {
  std::vector<std::string> less, more;
  const auto count = [&](int difference, std::string_view what) {
    if (difference > 0) less.push_back(fmt::format("{} {}", difference, what));
    if (difference < 0) more.push_back(fmt::format("{} {}", -difference, what));
  };
  count(before.trans_data - after.trans_data, "TransData");
  count(before.casts - after.casts, "Cast");
  count(before.copies - after.copies, "copies");
  const double bytes = before.bytes - after.bytes;
  if (bytes != 0) (bytes > 0 ? less : more).push_back(byte_size_text(std::abs(bytes)));
  std::string text = fmt::format("{}", fmt::join(less, ", "));
  if (!more.empty()) text += fmt::format(", for {} more", fmt::join(more, ", "));
  return text;
}

void print_remedy(std::ostream& out, const Remedy& remedy, const ConsoleStyle& style) {
  out << printable(remedy.context) << '\n';
  print_steps(out, remedy, style);
  say(out,
      remedy.steps.empty() ? "nothing to save"
                           : "saved in total: " + savings_text(remedy.before, remedy.after()) +
                                 estimate_text(estimate_of(remedy)),
      2, 2, style.width);
  print_proof(out, remedy, style);
}

void write_remedies_json(std::ostream& out, std::span<const Remedy> remedies,
                         const std::string& command_line) {
  Json list = Json::array();
  for (const Remedy& remedy : remedies) list.push_back(remedy_value(remedy));
  const Json document = {{"schema", "opbench-remedy"},
                         {"schema_version", 1},
                         {"command", command_line},
                         {"remedies", std::move(list)}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench
