// Tests RFC 4180, and the variants that profilers and spreadsheets write.
#include "profiles/table_reader.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Rows = std::vector<std::vector<std::string>>;

struct ReadTable {
  Rows rows;
  std::vector<std::int64_t> lines;
  std::vector<std::string> skipped;
  std::int64_t skips = 0;
};

ReadTable read_table(ByteSource source, std::optional<std::size_t> columns = {}) {
  TableReader reader(ByteWindow(std::move(source)), "t.csv");
  if (columns) reader.expect_columns(*columns);
  ReadTable table;
  while (reader.next()) {
    auto& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < reader.size(); ++i) row.emplace_back(reader.cell(i));
    table.lines.push_back(reader.line());
  }
  table.skipped = reader.skipped().examples();
  table.skips = reader.skipped().count();
  return table;
}

ReadTable read_table(std::string_view text, std::optional<std::size_t> columns = {}) {
  return read_table(bytes_of(text), columns);
}

TEST(TableReader, ReadsCellsAsRfc4180SaysIt) {
  EXPECT_EQ(read_table("a,b\r\n\"x,y\",\"1\"\"2\"\r\n").rows, (Rows{{"a", "b"}, {"x,y", "1\"2"}}));
  EXPECT_EQ(read_table("a,b\n,\n").rows, (Rows{{"a", "b"}, {"", ""}}));
  EXPECT_EQ(read_table("a,b").rows, (Rows{{"a", "b"}}));  // no line end
  EXPECT_EQ(read_table("\"a\nb\",c\nd,e\n").rows, (Rows{{"a\nb", "c"}, {"d", "e"}}));
  EXPECT_THAT(read_table("\"a\nb\",c\nd,e\n").lines, ElementsAre(1, 3));
  EXPECT_THAT(read_table("").rows, SizeIs(0));
}

TEST(TableReader, LeavesMarksTabsAndEmptyLinesOut) {
  EXPECT_EQ(read_table("\xEF\xBB\xBF"
                       "a,b\n\n  \n1736408883704643.212\t, 5 \r\n")
                .rows,
            (Rows{{"a", "b"}, {"1736408883704643.212", "5"}}));
  EXPECT_EQ(read_table("\"1736413971558972.912\t\",b\n").rows,
            (Rows{{"1736413971558972.912", "b"}}));
}

// kernel_details.csv quotes its shapes twice: """1,3;64""" is the text "1,3;64" with quotes.
TEST(TableReader, KeepsQuotesInsideOfQuotes) {
  EXPECT_EQ(read_table("\"\"\"1,3;64\"\"\",\"\"\"\"\"\"\n").rows, (Rows{{"\"1,3;64\"", "\"\""}}));
  EXPECT_EQ(read_table("\"say \"hi\" now\",x\n").rows, (Rows{{"say \"hi\" now", "x"}}));
  EXPECT_EQ(read_table("a\"b,c\n").rows, (Rows{{"a\"b", "c"}}));
}

// These characters differ from a separator by one, or in the highest bit.
TEST(TableReader, FindsTheEndsOfCellsOfAnyLength) {
  for (const char letter : {'a', '+', '-', '\x0b', '\xac', '\x8a', '\0'}) {
    for (std::size_t length = 0; length < 20; ++length) {
      const std::string cell = "x" + std::string(length, letter) + "x";
      EXPECT_EQ(read_table(cell + "," + cell + "\n" + cell + ",1").rows,
                (Rows{{cell, cell}, {cell, "1"}}));
    }
  }
}

TEST(TableReader, TellsAndSkipsRowsOfAnotherLength) {
  const ReadTable table = read_table("1,2\n1\n1,2,3\n3,4,,\n", 2);
  EXPECT_EQ(table.rows, (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_THAT(table.skipped, ElementsAre("t.csv:2: 1 cells where the header has 2",
                                         "t.csv:3: 3 cells where the header has 2"));
}

// A cell with a missing end quote must not extend to the next quote.
TEST(TableReader, ReadsOnBehindALineThatWasCutInsideQuotes) {
  const ReadTable table = read_table("1,\"2,3\"\n1,\"2,\n3,\"4\"\n5,6\n", 2);
  EXPECT_EQ(table.rows, (Rows{{"1", "2,3"}, {"3", "4"}, {"5", "6"}}));
  EXPECT_THAT(table.skipped, ElementsAre("t.csv:2: a quoted cell does not end on its line"));
  EXPECT_EQ(read_table("1,2\n3,\"4\n5,6", 2).rows, (Rows{{"1", "2"}, {"5", "6"}}));
}

TEST(TableReader, ReadsTheSameFromPiecesOfAnySize) {
  const std::string text =
      "\xEF\xBB\xBF"
      "a,\"b\"\"c\"\r\n\"d\ne\",f\r\n1,\"2\n\n3,4";
  const ReadTable whole = read_table(text, 2);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const ReadTable table = read_table(in_pieces(text, piece), 2);
    EXPECT_EQ(table.rows, whole.rows) << piece;
    EXPECT_EQ(table.skipped, whole.skipped) << piece;
  }
}

TEST(TableReader, GivesUpARecordWithoutAnEnd) {
  const std::string text = "1,2\n\"" + std::string(kLongestRecord + 10, 'x') + "\n3,4\n";
  const ReadTable table = read_table(text, 2);
  EXPECT_EQ(table.rows, (Rows{{"1", "2"}, {"3", "4"}}));
  ASSERT_THAT(table.skipped, SizeIs(1));
  EXPECT_THAT(table.skipped[0], HasSubstr("t.csv:2: a record does not end within 1 MiB"));
}

// Every line opens a quote that is not closed. Without a limit, each cell would be read to the end
// of the file.
TEST(TableReader, StaysLinearWhereNoQuoteCloses) {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += "\"a\n";
  const ReadTable table = read_table(text + "1,2\n", 2);
  EXPECT_EQ(table.rows, (Rows{{"1", "2"}}));
  EXPECT_EQ(table.skips, 500'000);
}

TEST(TableReader, SkipsBinaryJunk) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += static_cast<char>(i * 7919 >> 3);
  EXPECT_THAT(read_table(text + "\n1,2,3,4,5\n", 5).rows,
              testing::Contains(ElementsAre("1", "2", "3", "4", "5")));
}

}  // namespace
}  // namespace opbench
