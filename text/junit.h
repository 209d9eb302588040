#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opbench {

/// One test case of a JUnit report.
struct JUnitCase {
  enum class Outcome { passed, failed, errored, skipped };

  std::string suite;
  std::string name;  ///< of its own within its suite
  double seconds = 0;
  Outcome outcome = Outcome::passed;
  std::string message;  ///< why it did not pass
  std::string output;   ///< for system-out
};

/// A JUnit report, whatever it is about.
struct JUnitReport {
  std::string name;
  std::string timestamp;                                        ///< ISO 8601; empty: none
  std::vector<std::pair<std::string, std::string>> properties;  ///< of every suite
  std::vector<JUnitCase> cases;
};

/// JUnit XML as CI systems read it: <testsuites>, a <testsuite> for every suite in the order of its
/// first case. Always well-formed UTF-8: what XML cannot hold becomes U+FFFD.
void write_junit(std::ostream& out, const JUnitReport& report);

/// `text` for XML between tags; for an attribute, where ends of lines have to be escaped too.
std::string xml_text(std::string_view text);
std::string xml_attribute(std::string_view text);

}  // namespace opbench
