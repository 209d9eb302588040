#include "text/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "tensor/utf8.h"

namespace opbench {
namespace {

using Outcome = JUnitCase::Outcome;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Returns the number of bytes of the character at `place`; 0 if it is not valid UTF-8 or not
// allowed in XML 1.0 (section 2.2 excludes U+FFFE, U+FFFF and control characters except tab and
// line ends).
std::size_t character_bytes(std::string_view text, std::size_t place) {
  const auto [code, bytes] = utf8_character(text, place);
  const bool is_control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
  return is_control || code == 0xFFFE || code == 0xFFFF ? 0 : bytes;
}

std::string_view entity_of(char letter, bool in_attribute) {
  switch (letter) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    // In attributes parsers replace the next two by blanks, and \r by a line feed everywhere.
    case '\t':
      return in_attribute ? "&#9;" : "";
    case '\n':
      return in_attribute ? "&#10;" : "";
    case '\r':
      return "&#13;";
    case '"':
      return in_attribute ? "&quot;" : "";
    default:
      return {};
  }
}

std::string escaped(std::string_view text, bool in_attribute) {
  std::string result;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t bytes = character_bytes(text, place);
    const std::string_view entity = entity_of(text[place], in_attribute);
    result += bytes == 0 ? kReplacement : entity.empty() ? text.substr(place, bytes) : entity;
    place += std::max<std::size_t>(bytes, 1);
  }
  return result;
}

// Jenkins' xUnit plugin accepts at most three decimals.
std::string time_attribute(double seconds) {
  return fmt::format("{:.3f}", std::isfinite(seconds) ? seconds : 0.0);
}

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;

  void add(const JUnitCase& c) {
    ++tests;
    failures += c.outcome == Outcome::failed;
    errors += c.outcome == Outcome::errored;
    skipped += c.outcome == Outcome::skipped;
    if (std::isfinite(c.seconds)) seconds += c.seconds;
  }
  // Attributes of <testsuites>. Only suites have a count of skipped tests.
  std::string attributes() const {
    return fmt::format(R"(tests="{}" failures="{}" errors="{}" time="{}")", tests, failures, errors,
                       time_attribute(seconds));
  }
  std::string suite_attributes() const {
    return fmt::format(R"({} skipped="{}")", attributes(), skipped);
  }
};

void write_outcome(std::ostream& out, const JUnitCase& c) {
  if (c.outcome == Outcome::passed) return;
  const std::string message = xml_attribute(c.message);
  if (c.outcome == Outcome::skipped) {
    out << "      <skipped message=\"" << message << "\"/>\n";
    return;
  }
  const bool is_failure = c.outcome == Outcome::failed;
  const char* tag = is_failure ? "failure" : "error";
  out << "      <" << tag << " type=\"" << (is_failure ? "failed" : "errored") << "\" message=\""
      << message << "\">" << xml_text(c.message) << "</" << tag << ">\n";
}

void write_case(std::ostream& out, const std::string& report, const JUnitCase& c) {
  out << "    <testcase classname=\"" << xml_attribute(report + "." + c.suite) << "\" name=\""
      << xml_attribute(c.name) << "\" time=\"" << time_attribute(c.seconds) << "\">\n";
  write_outcome(out, c);
  if (!c.output.empty()) {
    out << "      <system-out>" << xml_text(c.output) << "</system-out>\n";
  }
  out << "    </testcase>\n";
}

void write_suite(std::ostream& out, const JUnitReport& report, const std::string& suite) {
  Counts counts;
  for (const JUnitCase& c : report.cases) {
    if (c.suite == suite) counts.add(c);
  }
  out << "  <testsuite name=\"" << xml_attribute(suite) << "\" " << counts.suite_attributes();
  if (!report.timestamp.empty()) out << " timestamp=\"" << xml_attribute(report.timestamp) << '"';
  out << ">\n    <properties>\n";
  for (const auto& [name, value] : report.properties) {
    out << "      <property name=\"" << xml_attribute(name) << "\" value=\"" << xml_attribute(value)
        << "\"/>\n";
  }
  out << "    </properties>\n";
  for (const JUnitCase& c : report.cases) {
    if (c.suite == suite) write_case(out, report.name, c);
  }
  out << "  </testsuite>\n";
}

}  // namespace

std::string xml_text(std::string_view text) { return escaped(text, false); }

std::string xml_attribute(std::string_view text) { return escaped(text, true); }

void write_junit(std::ostream& out, const JUnitReport& report) {
  Counts counts;
  std::vector<std::string> suites;
  for (const JUnitCase& c : report.cases) {
    counts.add(c);
    if (std::find(suites.begin(), suites.end(), c.suite) == suites.end()) suites.push_back(c.suite);
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\""
      << xml_attribute(report.name) << "\" " << counts.attributes() << ">\n";
  for (const std::string& suite : suites) write_suite(out, report, suite);
  out << "</testsuites>\n";
}

}  // namespace opbench
