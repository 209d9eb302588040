#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/check/report.h"
#include "text/cell.h"
#include "text/program.h"

namespace opbench::check {

using Json = nlohmann::ordered_json;

namespace {

Json build_value(const BuildInfo& build) {
  return {{"version", build.version},
          {"revision", build.revision},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"build_type", build.build_type}};
}

Json speed_value(const std::optional<SpeedChange>& speed) {
  if (!speed) return nullptr;
  return {{"base_us", finite_or_null(speed->base_us)},
          {"current_us", finite_or_null(speed->current_us)},
          {"change_percent", finite_or_null(100 * speed->change)},
          {"low_percent", finite_or_null(100 * speed->interval.low)},
          {"high_percent", finite_or_null(100 * speed->interval.high)},
          {"rounds", speed->rounds},
          {"slower_rounds", speed->slower_rounds},
          {"sign_test_p", finite_or_null(speed->sign_p)},
          {"adjusted_p", finite_or_null(speed->adjusted_p)}};
}

Json rounds_value(const PairedTimes& times) {
  Json value;
  for (const auto& [name, member] : kStages) {
    const PairedTimes::Stage& stage = times.*member;
    if (stage.empty()) continue;
    value[name] = {
        {"pair", stage.pair}, {"base_us", stage.base_us}, {"current_us", stage.current_us}};
    if (!stage.null_us.empty()) value[name]["null_us"] = stage.null_us;
  }
  return value;
}

Json accuracy_value(const std::optional<Accuracy>& accuracy, const std::string& bits) {
  if (!accuracy) return nullptr;
  return {{"max_ulp", finite_or_null(accuracy->max_ulp)},
          {"mean_ulp", finite_or_null(accuracy->mean_ulp)},
          {"max_abs_error", finite_or_null(accuracy->max_abs)},
          {"min_tolerance", finite_or_null(accuracy->min_tolerance)},
          {"inside_tolerance", finite_or_null(accuracy->inside_share)},
          {"bits", bits}};
}

Json conversions_value(const std::optional<Conversions>& conversions) {
  if (!conversions) return nullptr;
  return {{"trans_data", conversions->trans_data},
          {"trans_data_bytes", finite_or_null(conversions->trans_data_bytes)},
          {"casts", conversions->casts},
          {"copies", conversions->copies}};
}

Json waiver_value(const std::optional<WaivedBy>& waived) {
  if (!waived) return nullptr;
  return {{"place", waived->place}, {"reason", waived->reason}, {"expires", waived->expires}};
}

Json item_value(const CheckedItem& item) {
  return {{"case", item.case_id},
          {"name", item.case_name},
          {"variant", item.variant},
          {"threads", item.threads},
          {"count", item.count},
          {"measure", item.is_first_call ? "first call" : "call"},
          {"verdict", name(item.verdict)},
          {"regression", item.is_regression},
          {"unfinished", item.is_unfinished},
          {"too_noisy", item.is_too_noisy},
          {"same_code", item.is_same_code},
          {"waiver", waiver_value(item.waived)},
          {"evidence", item.evidence},
          {"next", item.next},
          {"notices", item.notices},
          {"threshold_percent", finite_or_null(100 * item.threshold)},
          {"noise_percent", item.noise ? finite_or_null(100 * *item.noise) : Json(nullptr)},
          {"step_percent",
           item.network_percent ? finite_or_null(*item.network_percent) : Json(nullptr)},
          {"speed", speed_value(item.speed)},
          {"rounds", rounds_value(item.times)},
          {"base_accuracy", accuracy_value(item.base_accuracy, item.base_bits)},
          {"current_accuracy", accuracy_value(item.current_accuracy, item.current_bits)},
          {"base_conversions", conversions_value(item.base_conversions)},
          {"current_conversions", conversions_value(item.current_conversions)}};
}

Json counts_value(const CheckReport& report) {
  Json counts = Json::object();
  for (const ChangeVerdict verdict : kAllVerdicts) {
    counts[std::string(name(verdict))] = report.count(verdict);
  }
  return counts;
}

}  // namespace

void write_json(std::ostream& out, const CheckReport& report, const Machine& machine) {
  Json items = Json::array();
  for (const CheckedItem& item : report.items) items.push_back(item_value(item));
  const Json document = {
      {"opbench_check", kReportVersion},
      {"command", report.command},
      {"program", program_name()},
      {"mode", report.mode},
      {"outcome", outcome_text(report)},
      {"exit_code", report.exit_code()},
      {"base", build_value(report.base)},
      {"base_name", report.base_name},
      {"current", build_value(report.current)},
      {"machine",
       {{"cpu", machine.cpu}, {"cores", machine.cores}, {"isa", machine.isa}, {"os", machine.os}}},
      {"date", machine.date},
      {"seconds", finite_or_null(report.seconds)},
      {"threshold_percent", finite_or_null(100 * report.rule.threshold)},
      {"floor_us", finite_or_null(report.rule.floor_us)},
      {"noise_floor_percent",
       report.noise_floor ? finite_or_null(100 * *report.noise_floor) : Json(nullptr)},
      {"too_noisy", report.too_noisy() > 0},
      {"fail_over_percent",
       report.fail_over_percent ? finite_or_null(*report.fail_over_percent) : Json(nullptr)},
      {"slower_percent", finite_or_null(report.slower_percent())},
      {"failures", report.failures},
      {"notices", report.notices},
      {"counts", counts_value(report)},
      {"items", std::move(items)}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench::check
