#include <fmt/format.h>

#include <ostream>

#include "harness/check/report.h"
#include "harness/check/waive.h"
#include "harness/run/record.h"
#include "text/junit.h"

namespace opbench::check {
namespace {

JUnitCase::Outcome outcome_of(const Item& item) {
  if (item.is_regression) return JUnitCase::Outcome::failed;
  if (item.is_unfinished) return JUnitCase::Outcome::errored;
  const bool is_undecided =
      item.waived || item.verdict == Verdict::ambiguous || item.verdict == Verdict::incomparable;
  return is_undecided ? JUnitCase::Outcome::skipped : JUnitCase::Outcome::passed;
}

JUnitCase junit_case(const Item& item) {
  JUnitCase result;
  result.suite = item.case_id.substr(0, item.case_id.find('['));
  // The name that the same test has in the report of a run.
  result.name = benchmark_name(item.case_id, item.variant, item.threads, item.cold);
  if (item.is_first_call) result.name += "/first_call";
  if (item.speed) result.seconds = item.speed->current_us / 1e6;
  result.outcome = outcome_of(item);
  result.message = fmt::format("{}: {}", name(item.verdict), item.evidence);
  if (item.waived) result.message += "; " + waived_text(item);
  result.output = result.message;
  for (const std::string& notice : item.notices) result.output += "\nnote: " + notice;
  if (!item.next.empty()) result.output += "\nnext: " + item.next;
  return result;
}

// Every answer came, and none is to be relied on.
JUnitCase failed_worker(const std::string& failure) {
  JUnitCase result;
  result.suite = "check";
  result.name = "the end of a worker";
  result.outcome = JUnitCase::Outcome::errored;
  result.message = result.output = failure;
  return result;
}

}  // namespace

void write_junit(std::ostream& out, const Report& report) {
  JUnitReport junit;
  junit.name = "opbench";
  junit.properties = {{"command", report.command},
                      {"base", report.base.revision},
                      {"current", report.current.revision}};
  for (const Item& item : report.items) junit.cases.push_back(junit_case(item));
  for (const std::string& failure : report.failures) junit.cases.push_back(failed_worker(failure));
  opbench::write_junit(out, junit);
}

}  // namespace opbench::check
