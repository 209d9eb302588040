// Records field by field, at the offsets in CANN's documentation.
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "dump/device/device_dump.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Bytes with numbers at given offsets.
class Record {
 public:
  explicit Record(std::size_t bytes) : bytes_(bytes) {}
  Record& u32(std::size_t at, std::uint32_t value) { return put(at, &value, sizeof value); }
  Record& u64(std::size_t at, std::uint64_t value) { return put(at, &value, sizeof value); }
  nlohmann::json json() const { return nlohmann::json::parse(overflow_record_json(bytes_)); }
  void expect_refused(const std::string& why) const {
    EXPECT_THAT([&] { overflow_record_json(bytes_); }, ThrowsMessage<Error>(HasSubstr(why)));
  }

 private:
  Record& put(std::size_t at, const void* value, std::size_t size) {
    std::memcpy(bytes_.data() + at, value, size);
    return *this;
  }
  std::vector<std::byte> bytes_;
};

/// A record with the magic number, of accelerator `type`, with `length` bytes of data.
Record new_record(std::uint32_t type, std::uint32_t length, std::size_t bytes) {
  return Record(bytes).u32(0, 0x5a5a5a5a).u32(4, 2).u32(8, 1).u32(12, type).u32(20, length);
}

}  // namespace

// 11 fields of 8 bytes follow 24 bytes of header. Number 6 is the program counter.
TEST(OverflowRecord, OfACoreHasElevenFields) {
  const nlohmann::json json =
      new_record(1, 88, 112).u64(24, 5).u64(24 + 48, 0xabc).u64(24 + 80, 7).json();
  EXPECT_EQ(json["magic"], "0x5a5a5a5a");
  EXPECT_EQ(json["version"], 2);
  const auto& list = json["acc_list"];
  EXPECT_EQ(list["acc_type"], "AIV");
  EXPECT_EQ(list["valid"], 1);
  EXPECT_EQ(list["data_len"], 88);
  EXPECT_EQ(list["data"]["model_id"], 5);
  EXPECT_EQ(list["data"]["pc_start"], "0xabc");
  EXPECT_EQ(list["data"]["status"], 7);
}

// AICPU has 8 fields, SDMA 10 with two addresses.
TEST(OverflowRecord, OfOtherAcceleratorsHasTheirFields) {
  const nlohmann::json cpu = new_record(2, 64, 88).u64(24 + 40, 3).json();
  EXPECT_EQ(cpu["acc_list"]["acc_type"], "AICPU");
  EXPECT_EQ(cpu["acc_list"]["data"]["cpu_id"], 3);
  const nlohmann::json dma = new_record(3, 80, 104).u64(24 + 56, 0x10).json();
  EXPECT_EQ(dma["acc_list"]["data"]["dst_addr"], "0x10");
}

// Three parts of 128 bytes, and from offset 512 on the status of each.
TEST(OverflowRecord, WithoutTheMagicNumberHasThreeParts) {
  const nlohmann::json json = Record(2048)
                                  .u64(0, 11)
                                  .u64(128 + 8, 22)
                                  .u64(256 + 32, 0x33)
                                  .u64(512, 44)
                                  .u64(768, 55)
                                  .u64(1024, 0x66)
                                  .u64(1024 + 16, 77)
                                  .json();
  EXPECT_EQ(json["DHA Atomic Add"]["model_id"], 11);
  EXPECT_EQ(json["DHA Atomic Add"]["status"], 44);
  EXPECT_EQ(json["L2 Atomic Add"]["stream_id"], 22);
  EXPECT_EQ(json["L2 Atomic Add"]["status"], 55);
  EXPECT_EQ(json["AI Core"]["pc_start"], "0x33");
  EXPECT_EQ(json["AI Core"]["kernel_code"], "0x66");
  EXPECT_EQ(json["AI Core"]["status"], 77);
}

// Each of these would read out of bounds.
TEST(OverflowRecord, IsRefusedWhereItEndsTooSoon) {
  Record(0).expect_refused("size: found 0 without the magic number");
  Record(2047).expect_refused("size: found 2047");
  Record(2049).expect_refused("allowed is 2048");
  Record(8).u32(0, 0x5a5a5a5a).expect_refused("size: found 8, at least 24 are needed");
  new_record(0, 88, 111).expect_refused("data_len: found 88; AIC has 88 and 87 bytes follow");
  new_record(0, 80, 200).expect_refused("data_len: found 80");
  new_record(0, 0xffffffff, 200).expect_refused("data_len: found 4294967295");
  new_record(4, 88, 200).expect_refused("acc_type: found 4");
}

TEST(OverflowRecord, IsKnownByItsName) {
  EXPECT_TRUE(is_overflow_record_name("Opdebug.Node_OpDebug.3.7"));
  EXPECT_FALSE(is_overflow_record_name("Opdebug.Node_OpDebug"));
  EXPECT_FALSE(is_overflow_record_name("Conv2D.Opdebug.Node_OpDebug.1"));
}

}  // namespace opbench
