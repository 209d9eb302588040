#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opbench {

/// A test case of a JUnit report.
struct JUnitCase {
  enum class Outcome { passed, failed, errored, skipped };

  std::string suite;
  std::string name;  ///< unique in its suite
  double seconds = 0;
  Outcome outcome = Outcome::passed;
  std::string message;  ///< reason why it did not pass
  std::string output;   ///< text for system-out
};

/// A JUnit report on any subject.
struct JUnitReport {
  std::string name;
  std::string timestamp;                                        ///< ISO 8601; empty: not written
  std::vector<std::pair<std::string, std::string>> properties;  ///< written to every suite
  std::vector<JUnitCase> cases;
};

/// Writes JUnit XML for CI systems: <testsuites>, and a <testsuite> for every suite in the order of
/// its first case. The output is always well-formed UTF-8: characters that XML does not allow
/// become U+FFFD.
void write_junit(std::ostream& out, const JUnitReport& report);

/// Escapes `text` for XML content, or for attributes, where line ends are escaped too.
std::string xml_text(std::string_view text);
std::string xml_attribute(std::string_view text);

}  // namespace opbench
