#include "dump/catalogue.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/dump/dump_support.h"

namespace opbench::dump_tests {
namespace {

TEST(CatalogueCodec, IsReadBackWhole) {
  Catalogue catalogue;
  DumpEntry entry;
  entry.name = "x";
  entry.path = "/op/1/input/x";
  entry.side = Side::input;
  entry.kind = EntryKind::tensor;
  entry.desc = describe(DType::int8, {2, 3});
  entry.attributes.type = 0;
  entry.attributes.stride = Dims{3, 1};
  entry.attributes.count = 5;
  entry.stored = StoredType::i8;
  entry.stored_name = "int8";
  entry.device = DeviceType::npu;
  entry.format = Format::NC1HWC0;
  entry.is_strided = true;
  entry.offset = 2048;
  entry.warning = "odd";
  catalogue.records.push_back({"op", "1", 1, {{"note", "text"}}, {entry}});
  catalogue.strays.push_back(entry);
  catalogue.problems.push_back("one");
  const std::string bytes = encode(catalogue);
  const Catalogue back = decode_catalogue(bytes, 4096);
  EXPECT_EQ(encode(back), bytes);
  ASSERT_EQ(back.records.size(), 1u);
  EXPECT_EQ(back.records[0].notes, catalogue.records[0].notes);
  const DumpEntry& read = back.records[0].entries.at(0);
  EXPECT_EQ(read.desc, entry.desc);
  EXPECT_EQ(read.attributes.stride, entry.attributes.stride);
  EXPECT_EQ(read.attributes.data_type, std::nullopt);
  EXPECT_EQ(read.format, entry.format);
  EXPECT_EQ(read.offset, 2048);
  EXPECT_EQ(back.strays.at(0).warning, "odd");
  EXPECT_EQ(back.problems, catalogue.problems);
}

TEST(CatalogueCodec, RefusesDamage) {
  Catalogue catalogue;
  catalogue.records.push_back({"op", "1", 1, {}, {DumpEntry{}}});
  const std::string bytes = encode(catalogue);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(decode_catalogue(std::string_view(bytes).substr(0, length), 0), Error) << length;
  }
  EXPECT_THROW(decode_catalogue(bytes + "x", 0), Error);
  std::string absurd = bytes;
  std::fill(absurd.begin(), absurd.begin() + 8, '\xff');
  EXPECT_THROW(decode_catalogue(absurd, 0), Error);
}

// Entries that damaged memory of the sending process may contain.
TEST(CatalogueCodec, RefusesEntriesThatWouldBeReadFromElsewhere) {
  DumpEntry good;
  good.desc = describe(DType::fp32, {2, 3});
  good.stored = StoredType::f32;
  good.attributes.stride = Dims{1, 2};
  good.is_strided = true;
  good.offset = 1000;
  const auto is_refused = [&](const auto& spoil) {
    DumpEntry entry = good;
    spoil(entry);
    Catalogue catalogue;
    catalogue.records.push_back({"op", "1", 1, {}, {entry}});
    return error_of([&] { decode_catalogue(encode(catalogue), 1024); }) ==
           "the list of the dump is damaged";
  };
  EXPECT_FALSE(is_refused([](DumpEntry&) {}));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.offset = 1001; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.offset = INT64_MAX; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.desc.shape = {2, 4}; }));
  // The library reads the data, so the file's size is not a limit. The number of bytes overflows.
  const auto claim = [](DumpEntry& entry, std::int64_t elements) {
    entry.offset = -1;
    entry.desc.shape = {elements, 1};
    entry.attributes.stride = Dims{1, 2};
  };
  EXPECT_FALSE(is_refused([&](DumpEntry& entry) { claim(entry, INT64_MAX / 4); }));
  EXPECT_TRUE(is_refused([&](DumpEntry& entry) { claim(entry, INT64_MAX / 4 + 1); }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride = Dims{1, 3}; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride = Dims{1, -1}; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride = Dims{1}; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.attributes.stride.reset(); }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.stored = StoredType::none; }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.stored = static_cast<StoredType>(99); }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.kind = static_cast<EntryKind>(-1); }));
  EXPECT_TRUE(is_refused([](DumpEntry& entry) { entry.desc.dtype = static_cast<DType>(200); }));
  EXPECT_FALSE(is_refused([](DumpEntry& entry) {
    entry.stored = StoredType::none;
    entry.problem = "its type is string";
  }));
}
}  // namespace
}  // namespace opbench::dump_tests
