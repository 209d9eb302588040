// Tests JSON of the RFC, and the remains of traces after a run was ended or if a name contains
// quotes.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "profiles/trace_profile.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct Read {
  std::vector<std::string> names;
  std::vector<std::int64_t> lines;
  std::vector<std::string> skipped;
  std::int64_t skips = 0;
};

Read read_trace(ByteSource source) {
  TraceReader reader(ByteWindow(std::move(source)), "t.json");
  Read read;
  while (reader.next()) {
    read.names.emplace_back(reader.event().name);
    read.lines.push_back(reader.line());
  }
  read.skipped = reader.skipped().examples();
  read.skips = reader.skipped().count();
  return read;
}

Read read_trace(std::string_view text) { return read_trace(bytes_of(text)); }

TEST(TraceReader, ReadsListsAndObjects) {
  const std::string list = "[\n{\"name\": \"a\"},\n{\"name\": \"b\", \"args\": {\"x\": [{}]}}\n]";
  EXPECT_THAT(read_trace(list).names, ElementsAre("a", "b"));
  EXPECT_THAT(read_trace(list).lines, ElementsAre(2, 3));
  const Read object = read_trace(
      "\xEF\xBB\xBF{\"deviceProperties\": [{\"name\": \"gpu\"}], \"traceEvents\" : " + list +
      ", \"traceName\": \"x\", \"more\": [{\"name\": \"c\"}]}");
  EXPECT_THAT(object.names, ElementsAre("a", "b"));
  EXPECT_THAT(object.skipped, SizeIs(0));
}

TEST(TraceReader, KeepsNumbersAsWrittenAndTextsWithoutEscapes) {
  const std::string text =
      R"([{"ph":"X","pid":"Spans","tid":7,"ts":"1736408883704643.212","dur":1e3,"name":"a\"{\u00e9","args":)"
      R"x({"Input Dims":[[1, 2],[]],"stream":7 ,"memory bandwidth (GB/s)":inf,"Input type":"float;\r\n"}}])x";
  TraceReader reader(ByteWindow(bytes_of(text)), "t.json");
  ASSERT_TRUE(reader.next());
  const TraceEvent& event = reader.event();
  EXPECT_EQ(event.phase, 'X');
  EXPECT_EQ(event.process, "Spans");
  EXPECT_EQ(event.thread, "7");
  EXPECT_EQ(event.start_us, "1736408883704643.212");
  EXPECT_EQ(event.duration_us, "1e3");
  EXPECT_EQ(event.name, "a\"{\xc3\xa9");
  EXPECT_EQ(event.input_dims, "[[1, 2],[]]");
  EXPECT_EQ(event.stream, "7");
  EXPECT_EQ(event.input_types, "float;\r\n");
}

TEST(TraceReader, ReadsWhatACutCaptureHas) {
  EXPECT_THAT(read_trace("[{\"name\":\"a\"},{\"name\":\"b\"}").names, ElementsAre("a", "b"));
  EXPECT_THAT(read_trace("[{\"name\":\"a\"},{\"name\":\"b\"},\n").skipped, SizeIs(0));
  const Read cut = read_trace("[{\"name\":\"a\"},\n{\"name\":\"b\",\"args\":{\"x");
  EXPECT_THAT(cut.names, ElementsAre("a"));
  EXPECT_THAT(cut.skipped, ElementsAre("t.json:2: the trace ends inside an event"));
  EXPECT_THAT(read_trace("{\"traceEvents\":[{\"name\":\"a\"},\n").skipped,
              ElementsAre("t.json:2: the trace ends before its list of events does"));
}

// Old profilers write names without escapes.
TEST(TraceReader, ReadsOnBehindADamagedEvent) {
  const Read odd = read_trace(
      "[{\"name\":\"a\"},\n{\"name\":\"f<\"x>\",\"ts\":1},\n{\"name\":\"b\"},\n{\"name\":\"c\"}]");
  EXPECT_THAT(odd.names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(odd.skipped, ElementsAre(HasSubstr("t.json:2: ")));
  const Read even = read_trace("[{\"name\":\"f \"x\" y\",\"ts\":1}, {\"name\":\"b\"}]");
  EXPECT_THAT(even.names, ElementsAre("b"));
  EXPECT_EQ(even.skips, 1);
  const Read open = read_trace("[{\"name\":\"a\",\"args\":{\"x\":1},\n{\"name\":\"b\"}]");
  EXPECT_THAT(open.names, ElementsAre("b"));
  EXPECT_THAT(read_trace("[junk, 5, {\"name\":\"b\"}{\"name\":\"c\"}]").names,
              ElementsAre("b", "c"));
}

TEST(TraceReader, ReadsTheSameFromPiecesOfAnySize) {
  const std::string text =
      "{ \"traceEvents\": [\r\n{\"name\":\"a\\\\\"}, "
      "{\"na\\\"me\":1,\"name\":\"b\"},\n{\"name\":\"c\" "
      "\"d\"},{\"name\":\"e\"}\n]}";
  const Read whole = read_trace(text);
  EXPECT_THAT(whole.names, ElementsAre("a\\", "b", "e"));
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const Read read = read_trace(in_pieces(text, piece));
    EXPECT_EQ(read.names, whole.names) << piece;
    EXPECT_EQ(read.lines, whole.lines) << piece;
    EXPECT_EQ(read.skipped, whole.skipped) << piece;
  }
}

TEST(TraceReader, GivesUpAnEventWithoutAnEnd) {
  const Read read = read_trace("[{\"name\":\"" + std::string(4 * kLongestEvent, 'x') +
                               "\n{\"name\":\"b\"},\n{\"name\":\"c\"}]");
  EXPECT_THAT(read.names, ElementsAre("b", "c"));
  EXPECT_THAT(read.skipped[0], HasSubstr("t.json:1: an event that does not end within 1 MiB"));
}

// Every line opens an event that is not closed.
TEST(TraceReader, StaysLinearWhereNothingCloses) {
  std::string text = "[";
  for (int i = 0; i < 300'000; ++i) text += "{\"a\":[\n";
  EXPECT_GT(read_trace(text).skips, 0);
}

TEST(TraceReader, SkipsBinaryJunk) {
  std::string text = "[{\"name\":\"a\"},";
  for (int i = 0; i < 100'000; ++i) text += static_cast<char>(i * 7919 >> 3);
  EXPECT_THAT(read_trace(text + "\n{\"name\":\"b\"}]").names, testing::Contains("a"));
}

TEST(TraceReader, RecognisesTraces) {
  EXPECT_EQ(recognise_trace("\n [ {\"ph\":\"X\"}"), TraceKind::trace);
  EXPECT_EQ(recognise_trace("{\"schemaVersion\": 1, \"traceEvents\": ["), TraceKind::trace);
  EXPECT_EQ(recognise_trace("{\"schema\": \"1.0.1\", \"nodes\": []}"), TraceKind::execution_trace);
  EXPECT_EQ(recognise_trace("{\"data\": {}}"), TraceKind::none);
  EXPECT_EQ(recognise_trace("[1, 2]"), TraceKind::none);
  EXPECT_EQ(recognise_trace("[INFO] \"ph\""), TraceKind::none);
  EXPECT_EQ(recognise_trace(""), TraceKind::none);
}

}  // namespace
}  // namespace opbench
