#include "dump/device/device_names.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::ThrowsMessage;

class NameMappingTest : public testing::Test, protected TempDir {
 protected:
  void expect_refused(const std::string& text, int line) const {
    write("mapping.csv", text);
    EXPECT_THAT([&] { read_name_mapping(directory()); },
                ThrowsMessage<Error>(HasSubstr("mapping.csv:" + std::to_string(line) + ": ")))
        << text;
  }
};

}  // namespace

// Type, name, task, optionally a stream, and a time; then up to four numbers.
TEST(DeviceNames, AreOfFourToNineParts) {
  EXPECT_TRUE(is_device_dump_name("Conv2D.conv1.3.1600000000"));
  EXPECT_TRUE(is_device_dump_name("Conv2D.conv1.3.7.1600000000"));
  EXPECT_TRUE(is_device_dump_name("Conv2D.conv1.3.7.16.1.2.3.4"));
  EXPECT_FALSE(is_device_dump_name("Conv2D.conv1.3.7.16.1.2.3.4.5"));
  EXPECT_FALSE(is_device_dump_name("Conv2D.conv1.3"));
  EXPECT_FALSE(is_device_dump_name("Conv2D.conv1.3.x"));
  EXPECT_FALSE(is_device_dump_name("Conv2D.conv1.3."));
  EXPECT_FALSE(is_device_dump_name(".conv1.3.7"));
  EXPECT_FALSE(is_device_dump_name("Conv2D..3.7"));
  EXPECT_FALSE(is_device_dump_name(""));
}

TEST(DeviceNames, OfMindSporeAreShort) {
  EXPECT_EQ(short_dump_name("Conv2D.scope_op.3.7.16", "scope/op"), "Conv2D.op.3.7.16");
  EXPECT_EQ(short_dump_name("Conv2D.scope_op.3.7.16", ""), "Conv2D.op.3.7.16");
  EXPECT_EQ(short_dump_name("Conv2D.scope_op.3.7.16", "a/b.c\\d"), "Conv2D.b_c_d.3.7.16");
  EXPECT_EQ(short_dump_name("Conv2D.op.3.7", "scope/op"), "Conv2D.op.3.7") << "four parts";
  EXPECT_EQ(short_dump_name("Conv2D.scope_op.3.7.16", "scope/"), "Conv2D.scope_op.3.7.16");
}

// 254 bytes fit. A name of 255 bytes becomes 32 digits and the extension.
TEST(DeviceNames, ThatAreTooLongBecomeDigits) {
  const std::string fits(254, 'a'), is_long = fmt::format("{:a>251}.npy", "");
  EXPECT_EQ(fitting_file_name(fits), fits);
  const std::string made = fitting_file_name(is_long);
  EXPECT_EQ(made.size(), 36U);
  EXPECT_TRUE(made.ends_with(".npy"));
  EXPECT_EQ(made.find_first_not_of("0123456789abcdef"), 32U);
  EXPECT_NE(fitting_file_name(fmt::format("{:a>252}.npy", "")), made);
  EXPECT_EQ(fitting_file_name(fmt::format("{:a>300}.{:b>20}", "", "")).size(), 32U)
      << "a long suffix goes, too";
}

TEST_F(NameMappingTest, HasALineForEachFile) {
  EXPECT_THAT(read_name_mapping(directory()), IsEmpty());
  write("mapping.csv", "12,Conv2D.a,b.3.7\r\n\n34,Relu.x.1.2\n12,later\n");
  EXPECT_THAT(read_name_mapping(directory()),
              ElementsAre(Pair("12", "Conv2D.a,b.3.7"), Pair("34", "Relu.x.1.2")));
}

// A name with '/' would leave the folder.
TEST_F(NameMappingTest, RefusesNamesThatLeaveTheFolder) {
  expect_refused("12,../x\n", 1);
  expect_refused("1,a\n\n2\n", 3);
  expect_refused("1,\n", 1);
  expect_refused(std::string("1,a\0b\n", 6), 1);
}

TEST_F(NameMappingTest, AddsWhatItHasNotYet) {
  add_to_name_mapping(directory(), {{"2", "two"}});
  add_to_name_mapping(directory(), {{"1", "one"}, {"2", "other"}});
  EXPECT_EQ(read("mapping.csv"), "1,one\n2,two\n");
}

}  // namespace opbench
