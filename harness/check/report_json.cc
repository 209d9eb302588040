#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/check/report.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json build_value(const BuildInfo& build) {
  return {{"version", build.version},
          {"revision", build.revision},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"build_type", build.build_type}};
}

Json speed_value(const std::optional<SpeedChange>& speed) {
  if (!speed) return nullptr;
  return {{"base_us", number(speed->base_us)},
          {"current_us", number(speed->current_us)},
          {"change_percent", number(100 * speed->change)},
          {"low_percent", number(100 * speed->interval.low)},
          {"high_percent", number(100 * speed->interval.high)},
          {"rounds", speed->rounds},
          {"slower_rounds", speed->slower_rounds},
          {"sign_test_p", number(speed->sign_p)},
          {"adjusted_p", number(speed->adjusted_p)}};
}

Json accuracy_value(const std::optional<Accuracy>& accuracy) {
  if (!accuracy) return nullptr;
  return {{"max_ulp", number(accuracy->max_ulp)},
          {"mean_ulp", number(accuracy->mean_ulp)},
          {"max_abs_error", number(accuracy->max_abs)},
          {"bits", accuracy->bits}};
}

Json item_value(const CheckItem& item) {
  return {{"case", item.case_id},
          {"name", item.case_name},
          {"variant", item.variant},
          {"threads", item.threads},
          {"count", item.count},
          {"verdict", name(item.verdict)},
          {"regression", item.is_regression},
          {"unfinished", item.is_unfinished},
          {"evidence", item.evidence},
          {"next", item.next},
          {"notices", item.notices},
          {"threshold_percent", number(100 * item.threshold)},
          {"step_percent", item.step_percent ? number(*item.step_percent) : Json(nullptr)},
          {"speed", speed_value(item.speed)},
          {"base_accuracy", accuracy_value(item.base_accuracy)},
          {"current_accuracy", accuracy_value(item.current_accuracy)}};
}

Json counts_value(const CheckReport& report) {
  Json counts = Json::object();
  for (const CheckVerdict verdict : kAllCheckVerdicts) {
    counts[std::string(name(verdict))] = report.count(verdict);
  }
  return counts;
}

}  // namespace

void write_check_json(std::ostream& out, const CheckReport& report, const Machine& machine) {
  Json items = Json::array();
  for (const CheckItem& item : report.items) items.push_back(item_value(item));
  const Json document = {
      {"opbench_check", kCheckReportVersion},
      {"command", report.command},
      {"mode", report.mode},
      {"outcome", outcome_text(report)},
      {"exit_code", report.exit_code()},
      {"base", build_value(report.base)},
      {"base_name", report.base_name},
      {"current", build_value(report.current)},
      {"machine",
       {{"cpu", machine.cpu}, {"cores", machine.cores}, {"isa", machine.isa}, {"os", machine.os}}},
      {"date", machine.date},
      {"seconds", number(report.seconds)},
      {"threshold_percent", number(100 * report.rule.threshold)},
      {"floor_us", number(report.rule.floor_us)},
      {"noise_floor_percent", number(100 * report.noise_floor)},
      {"too_noisy", report.is_too_noisy},
      {"fail_over_percent",
       report.fail_over_percent ? number(*report.fail_over_percent) : Json(nullptr)},
      {"slower_percent_of_step", number(report.slower_percent_of_step())},
      {"notices", report.notices},
      {"counts", counts_value(report)},
      {"items", std::move(items)}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench
