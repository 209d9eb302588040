#include "judge/stored_values.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "tests/support/written_dump.h"

namespace opbench {
namespace {

using testing::ElementsAre;

template <class T>
std::vector<double> doubles(const ValueKind& kind, const std::vector<T>& stored) {
  std::vector<double> values(stored.size());
  values_to_doubles(kind, stored.data(), std::ssize(stored), values.data());
  return values;
}

template <class T>
std::vector<float> floats(const ValueKind& kind, const std::vector<T>& stored) {
  std::vector<float> values(stored.size());
  values_to_floats(kind, stored.data(), std::ssize(stored), values.data());
  return values;
}

class StoredTensors : public testing::Test, protected WrittenDump {
 protected:
  const DumpEntry& entry(std::size_t i) { return source().records().at(0).entries.at(i); }
};

}  // namespace

// The byte 0xFE is -2 as int8 and 254 as uint8. 0x7F is 127 in both.
TEST(StoredValues, MeanWhatTheirDtypeSays) {
  const std::vector<std::int8_t> bytes = {-2, 127, 0};
  EXPECT_THAT(doubles({StoredType::i8, DType::int8}, bytes), ElementsAre(-2, 127, 0));
  EXPECT_THAT(doubles({StoredType::i8, DType::uint8}, bytes), ElementsAre(254, 127, 0));
  EXPECT_THAT(floats({StoredType::i8, DType::uint8}, bytes), ElementsAre(254, 127, 0));
  EXPECT_THAT(doubles({StoredType::i8, DType::boolean}, bytes), ElementsAre(1, 1, 0));
}

// 0x3C00 is 1, 0xC000 is -2 and 0x7BFF is 65504 in fp16; 0x3F80 is 1 in bf16.
TEST(StoredValues, OfHalvesAreWidenedExactly) {
  const std::vector<std::uint16_t> halves = {0x3C00, 0xC000, 0x7BFF, 0x0001};
  EXPECT_THAT(floats({StoredType::f16, DType::fp16}, halves), ElementsAre(1, -2, 65504, 0x1p-24F));
  EXPECT_THAT(doubles({StoredType::f16, DType::fp16}, halves), ElementsAre(1, -2, 65504, 0x1p-24));
  const std::vector<std::uint16_t> brains = {0x3F80, 0xC040};
  EXPECT_THAT(doubles({StoredType::bf16, DType::bf16}, brains), ElementsAre(1, -3));
}

// fp64 holds all whole numbers up to 2^53.
TEST(StoredValues, OfLargeIntegersAreExactUpTo53Bits) {
  const std::vector<std::int64_t> numbers = {std::int64_t{1} << 53, -7};
  EXPECT_THAT(doubles({StoredType::i64, DType::int64}, numbers), ElementsAre(0x1p53, -7));
  const std::vector<std::uint64_t> largest = {std::numeric_limits<std::uint64_t>::max()};
  EXPECT_THAT(doubles({StoredType::u64, DType::int64}, largest), ElementsAre(0x1p64));
}

TEST(StoredValues, KindsAreToldApart) {
  EXPECT_TRUE(fits_float({StoredType::f32, DType::fp32}));
  EXPECT_TRUE(fits_float({StoredType::i16, DType::int16}));
  EXPECT_FALSE(fits_float({StoredType::i32, DType::int32})) << "2^24 + 1 is no float";
  EXPECT_FALSE(fits_float({StoredType::f64, DType::fp64}));
  EXPECT_TRUE(fits_float({StoredType::i64, DType::boolean})) << "0 or 1";
  EXPECT_TRUE(is_integer({StoredType::u8, DType::uint8}));
  EXPECT_TRUE(is_integer({StoredType::f32, DType::boolean}));
  EXPECT_FALSE(is_integer({StoredType::bf16, DType::bf16}));
  EXPECT_FALSE(means_what_it_stores({StoredType::i8, DType::uint8}));
  EXPECT_FALSE(means_what_it_stores({StoredType::i8, DType::boolean}));
  EXPECT_TRUE(means_what_it_stores({StoredType::boolean, DType::boolean}));
  EXPECT_TRUE(means_what_it_stores({StoredType::i8, DType::int8}));
}

// The file stores bf16 as fp32. 1/3 rounds to 0.333984375 in bf16 and 0.333251953125 in fp16.
TEST_F(StoredTensors, AreReadAsTheDtypeThatIsWanted) {
  record("relu");
  input("a", DType::bf16, {2}, {1.0 / 3, -2});
  input("b", DType::fp32, {2}, {1.0 / 3, 70000});
  ASSERT_EQ(entry(0).stored, StoredType::f32);
  EXPECT_THAT(recorded_numbers(source(), entry(0)), ElementsAre(0.333984375, -2));
  const Tensor same = load_recorded(source(), entry(0), describe(DType::bf16, {2}));
  EXPECT_EQ(same.as<std::uint16_t>()[0], 0x3EAB);
  const Tensor fp16 = load_recorded(source(), entry(1), describe(DType::fp16, {2}));
  EXPECT_EQ(fp16.as<std::uint16_t>()[0], 0x3555);
  EXPECT_EQ(fp16.as<std::uint16_t>()[1], 0x7C00) << "70000 is beyond fp16: Inf";
}

// 0x87654321 holds 1 to 7 and -8. A packed axis may be any.
TEST_F(StoredTensors, EightInt4AreReadFromAnInt32) {
  record("relu");
  input("w", DType::int32, {1, 1}, {double(int(0x87654321))});
  input("x", DType::int32, {2, 2}, {1, 2, 3, 4});
  for (const Dims& shape : {Dims{1, 8}, Dims{8, 1}}) {
    const Tensor weight = load_recorded(source(), entry(0), describe(DType::int4, shape));
    const auto* values = weight.as<std::int8_t>();
    EXPECT_THAT(std::vector<int>(values, values + 8), ElementsAre(1, 2, 3, 4, 5, 6, 7, -8));
  }
  const Tensor turned = load_recorded(source(), entry(1), describe(DType::int4, {16, 2}));
  EXPECT_EQ(turned.as<std::int8_t>()[0], 1);
  EXPECT_EQ(turned.as<std::int8_t>()[1], 2);
  EXPECT_EQ(turned.as<std::int8_t>()[16], 3) << "the first of the second row of numbers";
}

// Three channels in a block of 16 lanes. The padding lanes are 0.
TEST_F(StoredTensors, AreWrittenInTheFormatThatIsWanted) {
  record("relu");
  input("x", DType::fp32, {1, 3, 1, 1}, {1, 2, 3});
  const TensorDesc blocks = describe(DType::fp32, {1, 3, 1, 1}, Format::NC1HWC0);
  Tensor tensor(blocks);
  std::memset(tensor.data(), 0xFF, blocks.bytes());
  read_recorded(source(), entry(0), blocks, tensor.data());
  const auto* lanes = tensor.as<float>();
  EXPECT_THAT(std::vector<float>(lanes, lanes + 5), ElementsAre(1, 2, 3, 0, 0));
}

}  // namespace opbench
