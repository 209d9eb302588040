// Pickles byte by byte. Names of operations are those of Python's pickletools.
#include "dump/arrays/pickle.h"

#include <gmock/gmock.h>

#include <cstring>

#include "dump/arrays/pickle_bytes.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

using namespace std::string_literals;

ReadBytes reader_of(const std::string& text) {
  return [text](std::int64_t offset, std::size_t count, void* to) {
    std::memcpy(to, text.data() + offset, count);
  };
}

Pickle read(const std::string& text) {
  return read_pickle(reader_of(text), 0, std::ssize(text),
                     [](std::string_view name) { return name == "torch.Size"; });
}

PickleValue root_of(const std::string& text) {
  Pickle pickle = read(text);
  return pickle.values.at(static_cast<std::size_t>(pickle.root));
}

/// Returns the integers in a container.
std::vector<std::int64_t> integers_of(const std::string& text) {
  const Pickle pickle = read(text);
  std::vector<std::int64_t> numbers;
  for (const int item : pickle.values.at(static_cast<std::size_t>(pickle.root)).items) {
    numbers.push_back(pickle.values.at(static_cast<std::size_t>(item)).integer);
  }
  return numbers;
}

void expect_refused(const std::string& text, const std::string& why) {
  EXPECT_THAT([&] { read(text); },
              ThrowsMessage<Error>(testing::AllOf(StartsWith("pickle, byte "), HasSubstr(why))))
      << text;
}

}  // namespace

// K: one byte, M: two, J: four with a sign, 0x8a: a given number, in two's complement.
TEST(Pickle, ReadsNumbersOfEveryWidth) {
  EXPECT_EQ(root_of("K\xff.").integer, 255);
  EXPECT_EQ(root_of("M\x01\x02.").integer, 0x0201);
  EXPECT_EQ(root_of("J\xfe\xff\xff\xff.").integer, -2);
  EXPECT_EQ(root_of("\x8a\x02\x00\x80."s).integer, -32768);
  EXPECT_EQ(root_of("\x8a\x03\x00\x80\x00."s).integer, 32768);
  EXPECT_EQ(root_of("\x88.").kind, PickleKind::boolean);
  EXPECT_EQ(root_of("\x88.").integer, 1);
  EXPECT_EQ(root_of("\x89.").integer, 0);
  EXPECT_EQ(root_of("N.").kind, PickleKind::none);
  // 1.5 is 0x3ff8 and six zeros, first byte first.
  EXPECT_EQ(root_of("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s).real, 1.5);
}

// Integers of 9 bytes exceed 64 bits: the bytes are kept, and the value is unset.
TEST(Pickle, KeepsLongNumbersAsBytes) {
  const PickleValue value = root_of("\x8a\x09" + std::string(9, '\x01') + ".");
  EXPECT_EQ(value.kind, PickleKind::integer);
  EXPECT_EQ(value.text.size(), 9U);
  EXPECT_EQ(value.integer, 0);
}

TEST(Pickle, ReadsTextsWithTheirLengths) {
  EXPECT_EQ(root_of("\x8c\x03"
                    "abc.")
                .text,
            "abc");
  EXPECT_EQ(root_of("X\x02\x00\x00\x00hi."s).text, "hi");
  EXPECT_EQ(root_of("\x8d\x01\x00\x00\x00\x00\x00\x00\x00z."s).text, "z");
  EXPECT_EQ(root_of("U\x00."s).text, "");
}

// [1, 2], (1, 2, 3), {1: 2}, and a list that is filled element by element.
TEST(Pickle, ReadsContainers) {
  EXPECT_THAT(integers_of("](K\x01K\x02"
                          "e."),
              ElementsAre(1, 2));
  EXPECT_THAT(integers_of("]K\x07"
                          "a."),
              ElementsAre(7));
  EXPECT_THAT(integers_of("K\x01K\x02K\x03\x87."), ElementsAre(1, 2, 3));
  EXPECT_THAT(integers_of("(K\x01K\x02t."), ElementsAre(1, 2));
  EXPECT_THAT(integers_of("}K\x01K\x02s."), ElementsAre(1, 2));
  EXPECT_EQ(root_of(").").kind, PickleKind::tuple);
}

// A value that is stored in the memo is read again as the same value.
TEST(Pickle, SharesValues) {
  const Pickle pickle = read(
      "]q\x05"
      "0K\x01"
      "h\x05\x86.");
  const PickleValue& pair = pickle.values.at(static_cast<std::size_t>(pickle.root));
  ASSERT_EQ(pair.items.size(), 2U);
  EXPECT_EQ(pickle.values.at(static_cast<std::size_t>(pair.items[1])).kind, PickleKind::list);
  // A list that contains itself is one value.
  const Pickle self = read(
      "]q\x01"
      "h\x01"
      "a.");
  EXPECT_THAT(self.values.at(static_cast<std::size_t>(self.root)).items, ElementsAre(self.root));
}

TEST(Pickle, CallsAreKeptAndNotMade) {
  const Pickle pickle = read("ctorch\nSize\nK\x04\x85R.");
  const PickleValue& call = pickle.values.at(static_cast<std::size_t>(pickle.root));
  ASSERT_EQ(call.kind, PickleKind::call);
  EXPECT_EQ(pickle.values.at(static_cast<std::size_t>(call.items[0])).text, "torch.Size");
  EXPECT_EQ(root_of("K\x01Q.").kind, PickleKind::persistent);
  EXPECT_EQ(root_of("]Nb.").kind, PickleKind::list) << "a state is dropped";
}

// The next object in the file begins at the end of the pickle.
TEST(Pickle, EndsBehindItsLastOperation) {
  const std::string two = "xxK\x01.K\x02.";
  const Pickle first = read_pickle(reader_of(two), 2, std::ssize(two), [](auto) { return false; });
  EXPECT_EQ(first.end, 5);
  const Pickle second =
      read_pickle(reader_of(two), first.end, std::ssize(two), [](auto) { return false; });
  EXPECT_EQ(second.values[0].integer, 2);
}

TEST(Pickle, RunsNoCode) {
  expect_refused("cos\nsystem\n.", "'os.system' is not one of the names that tensors need");
  expect_refused("\x8c\x02os\x8c\x06system\x93.", "'os.system' is not one of the names");
  expect_refused("K\x01K\x02R.", "a call of an object that is not a function");
  expect_refused("i", "operation 0x69 is not one that tensors need");
}

// Each of these would read or write out of bounds.
TEST(Pickle, RefusesWhatIsDamaged) {
  expect_refused("", "length: found 1, but 0 bytes are left");
  expect_refused("K", "length: found 1");
  expect_refused(
      "X\xff\xff\xff\xff"
      "a",
      "length: found 4294967295");
  expect_refused(
      "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
      "a",
      "length: found");
  expect_refused(".", "the stack is empty");
  expect_refused("0", "the stack is empty");
  expect_refused("(.", "a mark where a value is needed");
  expect_refused("K\x01t.", "a mark is missing");
  expect_refused("h\x07.", "unknown value number 7");
  expect_refused("j\xff\xff\xff\xff.", "unknown value number 4294967295");
  expect_refused("q\x01.", "the stack is empty");
  expect_refused(
      "K\x01K\x02"
      "a.",
      "items for an object that is not a list or dict");
  expect_refused("}(K\x01u.", "a key without a value");
  expect_refused(
      "(K\x01"
      "d.",
      "a key without a value");
  expect_refused("K\x01K\x02\x93.", "a name that is not a text");
  expect_refused("c" + std::string(2000, 'a'), "a line without end");
}

// A file is fetched in pieces of 64 KiB. A text across two of them is read whole.
TEST(PickleBytes, JoinsPieces) {
  std::string text(150'000, 'a');
  text[65'535] = 'b';
  text[65'536] = 'c';
  int fetches = 0;
  const ReadBytes fetch = [&](std::int64_t offset, std::size_t count, void* to) {
    ++fetches;
    std::memcpy(to, text.data() + offset, count);
  };
  PickleBytes bytes(fetch, 0, std::ssize(text));
  EXPECT_EQ(bytes.next(65'530).size(), 65'530U);
  EXPECT_EQ(bytes.next(10), "aaaaabcaaa");
  EXPECT_EQ(bytes.place(), 65'540);
  EXPECT_EQ(fetches, 2);
  EXPECT_EQ(bytes.next(text.size() - 65'540).size(), text.size() - 65'540);
  EXPECT_THROW(bytes.next(1), Error);
}

}  // namespace opbench
