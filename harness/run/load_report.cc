#include "harness/run/load_report.h"

#include <fmt/format.h>

#include <ostream>

#include "tensor/printable.h"

namespace opbench {
namespace {

std::string share_text(std::int64_t part, std::int64_t whole) {
  const double share =
      whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.3g} %", share);
}

}  // namespace

void print_coverage(std::ostream& out, const LoadPlan& plan) {
  out << fmt::format("{} of {} records of {} are run, with {} of the elements of all results\n",
                     plan.run_records, plan.records, printable(plan.file),
                     share_text(plan.run_elements, plan.elements));
  if (!plan.left_out.empty()) out << "Not run:\n";
  for (const LeftOut& left : plan.left_out) {
    out << fmt::format("  {} {}x, {} of all elements: {}\n", printable(left.op), left.records,
                       share_text(left.elements, plan.elements), printable(left.reason));
  }
  if (!plan.problems.empty()) out << "Not read:\n";
  for (const std::string& problem : plan.problems) out << "  " << printable(problem) << '\n';
}

void print_loaded_cases(std::ostream& out, const LoadPlan& plan) {
  for (const LoadedCase& loaded : plan.cases) {
    for (const PlannedCase& planned : loaded.plans) {
      out << fmt::format("{}  {}\n", printable(planned.spec.name),
                         printable(case_id(planned.spec)));
      for (const Selection& variant : planned.variants) {
        const bool is_dumped = variant.variant == loaded.record->variant;
        out << fmt::format("  {}{}\n", variant.variant, is_dumped ? "  dumped" : "");
      }
    }
  }
}

}  // namespace opbench
