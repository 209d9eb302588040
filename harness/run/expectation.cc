#include "harness/run/expectation.h"

#include <fmt/format.h>

#include <algorithm>

namespace opbench {
namespace {

bool is_meant(const ExpectedFailure& expected, const Case& c, const Record& record) {
  const auto holds = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  return holds(expected.variants, record.variant) && holds(expected.dtypes, c.dtype);
}

}  // namespace

void apply_expectation(const Case& c, Record& record) {
  if (!c.expected_failure || !is_meant(*c.expected_failure, c, record)) return;
  const std::string& why = c.expected_failure->reason;
  if (record.status == Status::failed || record.status == Status::xfailed) {
    record.status = Status::xfailed;
    record.reason = fmt::format("{} ({})", why, record.reason);
  } else if (record.status == Status::passed || record.status == Status::mistrusted ||
             record.status == Status::suspicious) {
    record.status = Status::failed;
    record.reason = fmt::format("{}{} expects it to fail: {}", kUnexpectedPass, c.origin, why);
    record.times.reset();
  }
}

}  // namespace opbench
