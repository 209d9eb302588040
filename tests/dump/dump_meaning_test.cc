#include "dump/dump_meaning.h"

#include <gmock/gmock.h>

#include <limits>

namespace opbench {
namespace {

using testing::HasSubstr;

/// A tensor of Ascend's dumper: fp32 of the NPU, all five attributes.
DumpEntry dumped(std::int64_t data_type, StoredType stored, std::int64_t device = 10) {
  DumpEntry entry;
  entry.stored = stored;
  entry.stored_name = numpy_name(stored);
  entry.attributes.type = 0;
  entry.attributes.data_type = data_type;
  entry.attributes.device_type = device;
  entry.attributes.count = 5;
  return entry;
}

DumpEntry interpreted(DumpEntry entry, const Dims& shape = {2, 3}, const OwnMarks& marks = {}) {
  interpret(entry, shape, marks);
  return entry;
}

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

}  // namespace

// The last element of 2x3 with strides of 3 and 1 is number 5, inside of 6 elements.
TEST(DumpMeaning, StridesStayInside) {
  EXPECT_TRUE(stays_inside({2, 3}, {3, 1}, 6));
  EXPECT_FALSE(stays_inside({2, 3}, {3, 1}, 5));
  EXPECT_TRUE(stays_inside({2, 3}, {1, 2}, 6));
  EXPECT_FALSE(stays_inside({2, 3}, {4, 1}, 6));
  EXPECT_TRUE(stays_inside({2, 3}, {0, 0}, 1));
  EXPECT_FALSE(stays_inside({2, 3}, {3}, 6)) << "another rank";
  EXPECT_FALSE(stays_inside({2, 3}, {-3, 1}, 6)) << "below the first element";
  EXPECT_TRUE(stays_inside({1, 3}, {-7, 1}, 3)) << "an axis of 1 makes no step";
}

// Products beyond 64 bits would wrap to small or negative numbers.
TEST(DumpMeaning, StridesThatWrapAroundAreOutside) {
  EXPECT_FALSE(stays_inside({2, 3}, {kHuge, 1}, 6));
  EXPECT_FALSE(stays_inside({3, 3}, {kHuge / 2 + 1, kHuge / 2 + 1}, 6));
  EXPECT_FALSE(stays_inside({kHuge, kHuge}, {1, 1}, kHuge));
  EXPECT_TRUE(stays_inside({kHuge}, {1}, kHuge));
}

// ONNX's numbers: 1 is fp32, 10 fp16 and 16 bf16, which is stored as fp32.
TEST(DumpMeaning, DtypesAreThoseOfTheNumber) {
  EXPECT_EQ(interpreted(dumped(1, StoredType::f32)).desc.dtype, DType::fp32);
  EXPECT_EQ(interpreted(dumped(10, StoredType::f32)).desc.dtype, DType::fp16);
  EXPECT_EQ(interpreted(dumped(16, StoredType::f32)).desc.dtype, DType::bf16);
  EXPECT_EQ(interpreted(dumped(2, StoredType::i8)).desc.dtype, DType::uint8);
  OwnMarks marks;
  marks.dtype = "bf16";
  EXPECT_EQ(interpreted(dumped(1, StoredType::f32), {2}, marks).desc.dtype, DType::bf16);
  marks.dtype = "fp17";
  const DumpEntry wrong = interpreted(dumped(1, StoredType::f32), {2}, marks);
  EXPECT_EQ(wrong.desc.dtype, DType::fp32);
  EXPECT_THAT(wrong.warning, HasSubstr("attribute opbench_dtype: "));
}

TEST(DumpMeaning, WithoutANumberADtypeIsThatOfTheElements) {
  DumpEntry entry = dumped(0, StoredType::i16);
  entry.attributes.data_type.reset();
  entry = interpreted(entry);
  EXPECT_EQ(entry.desc.dtype, DType::int16);
  EXPECT_THAT(entry.warning, HasSubstr("no attribute DataType; the values are taken as int16"));
  const DumpEntry unknown = interpreted(dumped(99, StoredType::f64));
  EXPECT_EQ(unknown.desc.dtype, DType::fp64);
  EXPECT_THAT(unknown.warning, HasSubstr("attribute DataType is 99 (unknown)"));
}

// Codes are not values: bits of fp8 as integers, complex numbers, texts.
TEST(DumpMeaning, CodesAreNoValues) {
  EXPECT_TRUE(holds_codes(interpreted(dumped(17, StoredType::u8))));
  EXPECT_FALSE(holds_codes(interpreted(dumped(17, StoredType::f32)))) << "widened by the dumper";
  EXPECT_TRUE(holds_codes(interpreted(dumped(14, StoredType::f32))));
  EXPECT_TRUE(holds_codes(interpreted(dumped(1, StoredType::c64))));
  const DumpEntry fp8 = interpreted(dumped(17, StoredType::u8));
  EXPECT_THAT(fp8.problem, HasSubstr("float8_e4m3fn stored as uint8 is not supported"));
  EXPECT_EQ(codes_text(fp8), "DataType 17 (float8_e4m3fn) is not supported");
  EXPECT_EQ(interpreted(dumped(1, StoredType::f32)).problem, "");
  EXPECT_THAT(interpreted(dumped(16, StoredType::i16)).problem, HasSubstr("bfloat16 stored as"));
  EXPECT_EQ(data_type_text(23), "unknown");
  EXPECT_EQ(data_type_text(-1), "unknown");
}

// Ascend's dumper writes only one attribute for a tensor of an unknown dtype.
TEST(DumpMeaning, KindsAreThoseOfTheType) {
  DumpEntry scalar = dumped(0, StoredType::i8);
  scalar.attributes.type = 3;
  scalar.attributes.data_type.reset();
  scalar = interpreted(scalar, {});
  EXPECT_EQ(scalar.kind, EntryKind::scalar);
  EXPECT_EQ(scalar.desc.dtype, DType::boolean);
  DumpEntry odd = dumped(1, StoredType::f32);
  odd.attributes.type = 99;
  odd = interpreted(odd);
  EXPECT_EQ(odd.kind, EntryKind::tensor);
  EXPECT_THAT(odd.warning, HasSubstr("attribute Type is 99, which has no meaning"));
  DumpEntry left = dumped(1, StoredType::f32);
  left.attributes = {};
  left.attributes.device_type = 10;
  left.attributes.count = 1;
  left = interpreted(left);
  EXPECT_THAT(left.problem, HasSubstr("no attribute Type"));
  EXPECT_TRUE(holds_no_values(left));
}

// Tensors of CPU and GPU are in storage order, those of the NPU in row-major order.
TEST(DumpMeaning, StridesCountOfCpuAndGpu) {
  const auto is_strided = [](std::int64_t device, const Dims& stride) {
    DumpEntry entry = dumped(1, StoredType::f32, device);
    entry.attributes.stride = stride;
    return interpreted(entry).is_strided;
  };
  EXPECT_TRUE(is_strided(1, {1, 2}));
  EXPECT_FALSE(is_strided(1, {3, 1}));
  EXPECT_FALSE(is_strided(10, {1, 2}));
  DumpEntry entry = dumped(1, StoredType::f32, 0);
  entry.attributes.stride = Dims{30, 1};
  entry = interpreted(entry);
  EXPECT_FALSE(entry.is_strided);
  EXPECT_THAT(entry.warning,
              HasSubstr("attribute Stride is [30, 1], which does not fit shape 2x3"));
}

TEST(DumpMeaning, RemarksAreJoined) {
  std::string remarks;
  add_remark(remarks, "one");
  add_remark(remarks, "two");
  EXPECT_EQ(remarks, "one; two");
}

}  // namespace opbench
