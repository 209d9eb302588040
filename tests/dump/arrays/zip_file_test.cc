// A .zip file of stored members, byte by byte, and its damaged variants.
#include "dump/arrays/zip_file.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

/// Encodes `value` little-endian in `bytes` bytes.
std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

// The CRC-32 of .zip files, by the polynomial 0xEDB88320; "123456789" gives 0xCBF43926.
std::uint32_t crc_32(const std::string& text) {
  std::uint32_t sum = 0xFFFFFFFF;
  for (const char letter : text) {
    sum ^= static_cast<unsigned char>(letter);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum % 2 == 0 ? 0 : 0xEDB88320);
  }
  return ~sum;
}

struct Member {
  std::string name, data;
  std::uint32_t flags = 0, method = 0, sum = 0;
  std::uint32_t packed = 0, unpacked = 0;

  Member(std::string called, std::string holds) : name(std::move(called)), data(std::move(holds)) {
    sum = crc_32(data);
    packed = unpacked = static_cast<std::uint32_t>(data.size());
  }

  // Fields that the header before the data and the directory share.
  std::string header() const {
    return number(20, 2) + number(flags, 2) + number(method, 2) + number(0, 4) + number(sum, 4) +
           number(packed, 4) + number(unpacked, 4) + number(name.size(), 2) + number(0, 2);
  }
};

std::string zip_of(const std::vector<Member>& members) {
  std::string file, directory;
  for (const Member& member : members) {
    directory += number(0x02014b50, 4) + number(20, 2) + member.header() + number(0, 10) +
                 number(file.size(), 4) + member.name;
    file += number(0x04034b50, 4) + member.header() + member.name + member.data;
  }
  return file + directory + number(0x06054b50, 4) + number(0, 4) + number(members.size(), 2) +
         number(members.size(), 2) + number(directory.size(), 4) + number(file.size(), 4) +
         number(0, 2);
}

class ZipFileTest : public testing::Test, protected TempDir {
 protected:
  /// Writes and opens a file with these members.
  ZipFile& open(const std::vector<Member>& members) {
    file_ = std::make_unique<RegularFile>(write("a.zip", zip_of(members)));
    zip_ = std::make_unique<ZipFile>(*file_);
    return *zip_;
  }
  std::string read(std::size_t member, std::int64_t offset, std::size_t count) const {
    std::string bytes(count, '\0');
    zip_->read(member, offset, count, bytes.data());
    return bytes;
  }
  /// Returns why the only member cannot be read.
  std::string problem(const Member& member) { return open({member}).members().at(0).problem; }

 private:
  std::unique_ptr<RegularFile> file_;
  std::unique_ptr<ZipFile> zip_;
};

}  // namespace

// The data of "b" is at two headers of 30 bytes, two names of 1 byte and the 3 bytes of "a".
TEST_F(ZipFileTest, HasItsMembers) {
  const ZipFile& zip = open({{"a", "123"}, {"b", "45678"}});
  ASSERT_THAT(zip.members(), SizeIs(2));
  EXPECT_EQ(zip.members()[1].name, "b");
  EXPECT_EQ(zip.members()[1].bytes, 5);
  EXPECT_EQ(zip.members()[1].offset, 30 + 1 + 3 + 30 + 1);
  EXPECT_EQ(zip.members()[1].problem, "");
  EXPECT_EQ(read(0, 0, 3), "123");
  EXPECT_EQ(read(1, 2, 3), "678");
  EXPECT_EQ(read(1, 5, 0), "");
}

TEST_F(ZipFileTest, EndsAMemberWhereItEnds) {
  open({{"a", "123"}, {"b", "45678"}});
  EXPECT_THROW(read(0, 1, 3), Error);
  EXPECT_THROW(read(0, 4, 0), Error);
  EXPECT_THROW(read(0, -1, 1), Error);
}

// A sum is checked once all data was read in order.
TEST_F(ZipFileTest, ChecksSums) {
  Member wrong("a", "123456");
  wrong.sum ^= 1;
  open({wrong});
  EXPECT_EQ(read(0, 3, 3), "456") << "a part proves nothing";
  EXPECT_EQ(read(0, 0, 3), "123");
  EXPECT_THAT([&] { read(0, 3, 3); },
              ThrowsMessage<Error>(HasSubstr("member 'a': damaged: its data does not give its "
                                             "CRC-32")));
  open({wrong}).ignore_sums();
  EXPECT_EQ(read(0, 0, 6), "123456");
}

TEST_F(ZipFileTest, SaysWhyAMemberCannotBeRead) {
  Member encrypted("a", "123"), method("a", "123"), sizes("a", "123"), large("a", "123");
  encrypted.flags = 1;
  EXPECT_EQ(problem(encrypted), "it is encrypted");
  method.method = 12;
  EXPECT_EQ(problem(method), "compression method 12; allowed are 0 (stored) and 8 (deflate)");
  sizes.unpacked = 2;
  EXPECT_NE(problem(sizes), "");
  large.packed = large.unpacked = 0x7fffffff;
  EXPECT_THAT(problem(large), HasSubstr("size: 2147483647 bytes in a file of "));
}

// The end, the directory or a member is missing.
TEST_F(ZipFileTest, RefusesWhatWasCut) {
  const std::string whole = zip_of({{"a", "123"}, {"b", "45678"}});
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, whole.size() / 2, whole.size() - 23, whole.size() - 5}) {
    const RegularFile file(write("cut.zip", whole.substr(0, size)));
    EXPECT_THROW(ZipFile zip(file), Error) << size << " of " << whole.size();
  }
  std::string more = whole;
  more[whole.size() - 12] = more[whole.size() - 14] = 9;  // declares nine members
  const RegularFile file(write("more.zip", more));
  EXPECT_THROW(ZipFile zip(file), Error);
}

}  // namespace opbench
