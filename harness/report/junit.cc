#include "text/junit.h"

#include <fmt/format.h>

#include <ostream>

#include "harness/report/report.h"
#include "harness/report/text.h"
#include "harness/run/record.h"

namespace opbench::report {
namespace {

JUnitCase::Outcome outcome_of(Status status) {
  switch (status) {
    case Status::failed:
      return JUnitCase::Outcome::failed;
    case Status::errored:
      return JUnitCase::Outcome::errored;
    case Status::skipped:
    case Status::xfailed:  // as pytest reports it
      return JUnitCase::Outcome::skipped;
    default:
      return JUnitCase::Outcome::passed;
  }
}

// Time in calls over all repetitions; from microseconds, as in results files.
double seconds_of(const Record& record) {
  if (!record.times) return 0;
  double us = 0;
  for (const Sample& sample : record.times->samples) {
    us += sample.ns_per_call / 1e3 * static_cast<double>(sample.iterations);
  }
  return us * 1e-6;
}

std::string output_of(const Record& r) {
  std::string text = fmt::format("{}\n{}", r.reproduce, name(r.status));
  if (!r.reason.empty()) text += fmt::format(": {}", r.reason);
  text += '\n';
  if (!r.case_name.empty()) text += fmt::format("{}\n", name_text(r));
  if (const std::optional<Times>& t = r.times) {
    text += fmt::format("median {}, MAD {}, {} repetitions, {:.1f} GB/s", time_text(t->median_us),
                        time_text(t->mad_us), t->samples.size(), t->gb_per_s);
    if (r.copy_gb_per_s > 0) text += fmt::format(", roofline {}", roofline_text(r));
    text += '\n';
  }
  if (r.accuracy) text += fmt::format("max ULP {}\n", ulp_text(r));
  return text;
}

}  // namespace

void write_junit(std::ostream& out, const RunResult& result, const Machine& machine,
                 const std::string& command) {
  JUnitReport report;
  report.name = "opbench";
  report.timestamp = machine.date;
  report.properties = {{"command", command},
                       {"cpu", machine.cpu},
                       {"cores", fmt::format("{}", machine.cores)},
                       {"isa", machine.isa},
                       {"opbench", fmt::format("{} ({})", machine.version, machine.revision)},
                       {"compiler", machine.compiler}};
  const std::vector<std::string> names = benchmark_names(result.records);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Record& record = result.records[i];
    const std::string message = record.reason.empty() ? status_text(record) : record.reason;
    report.cases.push_back({record.op, names[i], seconds_of(record), outcome_of(record.status),
                            message, output_of(record)});
  }
  write_junit(out, report);
}

}  // namespace opbench::report
