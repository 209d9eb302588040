// JUnit XML for CI systems is well-formed for any text.
#include "text/junit.h"

#include <gmock/gmock.h>

#include <sstream>

#include "harness/report/report.h"
#include "tests/support/records.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

Record ended(Status status, const std::string& reason = "") {
  Record record = record_of();
  record.threads = 2;
  record.status = status;
  record.reason = reason;
  record.reproduce = "opbench --case 'relu[64,fp32]' --variant native --threads 2";
  return record;
}

std::string junit(const std::vector<Record>& records) {
  RunResult result;
  result.records = records;
  Machine machine;
  machine.cpu = "A & B";
  machine.date = "2026-01-02T03:04:05Z";
  std::ostringstream out;
  report::write_junit(out, result, machine, "opbench --op relu");
  return out.str();
}

}  // namespace

TEST(JUnit, WholeReport) {
  Record timed = ended(Status::passed);
  timed.bytes = 512;
  timed.copy_gb_per_s = 10;
  set_bound(timed, false);
  set_times(timed, {{0, 0, 2000, 500000}, {0, 0, 4000, 250000}});  // 1 s each
  Record failed = ended(Status::failed, "3 < 4");
  failed.variant = "relu";
  EXPECT_EQ(junit({timed, failed}), R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="opbench" tests="2" failures="1" errors="0" time="2.000">
  <testsuite name="relu" tests="2" failures="1" errors="0" time="2.000" skipped="0" timestamp="2026-01-02T03:04:05Z">
    <properties>
      <property name="command" value="opbench --op relu"/>
      <property name="cpu" value="A &amp; B"/>
      <property name="cores" value="0"/>
      <property name="isa" value=""/>
      <property name="opbench" value=" ()"/>
      <property name="compiler" value=""/>
    </properties>
    <testcase classname="opbench.relu" name="relu[64,fp32]/native/threads:2" time="2.000">
      <system-out>opbench --case 'relu[64,fp32]' --variant native --threads 2
passed
median 3.00 us, MAD 1.00 us, 2 repetitions, 0.2 GB/s, roofline 2 % memory
</system-out>
    </testcase>
    <testcase classname="opbench.relu" name="relu[64,fp32]/relu/threads:2" time="0.000">
      <failure type="failed" message="3 &lt; 4">3 &lt; 4</failure>
      <system-out>opbench --case 'relu[64,fp32]' --variant native --threads 2
failed: 3 &lt; 4
</system-out>
    </testcase>
  </testsuite>
</testsuites>
)xml");
}

TEST(JUnit, EveryStatusHasItsOutcome) {
  EXPECT_THAT(junit({ended(Status::failed, "x")}), HasSubstr("<failure type=\"failed\""));
  EXPECT_THAT(junit({ended(Status::errored, "x")}), HasSubstr("<error type=\"errored\""));
  EXPECT_THAT(junit({ended(Status::errored)}), HasSubstr("message=\"ERRORED\">ERRORED</error>"));
  EXPECT_THAT(junit({ended(Status::skipped, "no fp16")}),
              HasSubstr("<skipped message=\"no fp16\"/>"));
  for (const Status status :
       {Status::passed, Status::mistrusted, Status::suspicious, Status::unverified}) {
    const std::string text = junit({ended(status, "why")});
    EXPECT_THAT(text,
                HasSubstr("tests=\"1\" failures=\"0\" errors=\"0\" time=\"0.000\" skipped=\"0\""));
    EXPECT_THAT(text, HasSubstr(std::string(name(status)) + ": why"));
  }
}

TEST(JUnit, SuitesKeepTheOrderOfTheirFirstCase) {
  Record other = ended(Status::skipped);
  other.op = "axpy";
  const std::string text = junit({ended(Status::errored), other, ended(Status::skipped)});
  EXPECT_THAT(text,
              HasSubstr("<testsuites name=\"opbench\" tests=\"3\" failures=\"0\" errors=\"1\" "
                        "time=\"0.000\">"));
  EXPECT_THAT(text, HasSubstr("<testsuite name=\"relu\" tests=\"2\" failures=\"0\" errors=\"1\" "
                              "time=\"0.000\" skipped=\"1\""));
  const std::size_t relu = text.find("<testsuite name=\"relu\" tests=\"2\"");
  const std::size_t axpy = text.find("<testsuite name=\"axpy\" tests=\"1\"");
  ASSERT_NE(relu, std::string::npos);
  ASSERT_NE(axpy, std::string::npos);
  EXPECT_LT(relu, axpy);
}

TEST(JUnit, NothingIsStillADocument) {
  EXPECT_EQ(junit({}),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"opbench\" tests=\"0\" "
            "failures=\"0\" errors=\"0\" time=\"0.000\">\n</testsuites>\n");
}

TEST(XmlText, EscapesMarkup) {
  EXPECT_EQ(xml_text("a<b>&\"'\n\t"), "a&lt;b&gt;&amp;\"'\n\t");
  EXPECT_EQ(xml_attribute("a<b>&\"'\n\t"), "a&lt;b&gt;&amp;&quot;'&#10;&#9;");
  EXPECT_EQ(xml_text("]]>\r"), "]]&gt;&#13;");
}

// The characters of XML 1.0 (section 2.2) and the encodings of RFC 3629 (section 4).
TEST(XmlText, ReplacesWhatXmlCannotHold) {
  const std::string lost = "\xEF\xBF\xBD";
  EXPECT_EQ(xml_text(std::string("a\0b", 3)), "a" + lost + "b");
  EXPECT_EQ(xml_text("\x1b[31m\x7f"), lost + "[31m\x7f");
  EXPECT_EQ(xml_text("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(xml_text("\xFF\x80"), lost + lost);
  EXPECT_EQ(xml_text("\xC0\xAF"), lost + lost);                        // overlong
  EXPECT_EQ(xml_text("\xE0\x80\x80"), lost + lost + lost);             // overlong
  EXPECT_EQ(xml_text("\xED\xA0\x80"), lost + lost + lost);             // surrogate
  EXPECT_EQ(xml_text("\xEF\xBF\xBE"), lost + lost + lost);             // U+FFFE
  EXPECT_EQ(xml_text("\xF4\x90\x80\x80"), lost + lost + lost + lost);  // beyond U+10FFFF
  EXPECT_EQ(xml_text("\xE2\x82"), lost + lost);                        // cut off
  EXPECT_EQ(xml_text("\xE2<"), lost + "&lt;");
}

}  // namespace opbench
