#include <gmock/gmock.h>

#include "dump/device/device_names.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

}  // namespace

// Numbers of CANN's dump_data.proto.
TEST(DeviceTypes, AreThoseOfCann) {
  EXPECT_EQ(device_stored_type(1), StoredType::f32);
  EXPECT_EQ(device_stored_type(2), StoredType::f16);
  EXPECT_EQ(device_stored_type(11), StoredType::boolean);
  EXPECT_EQ(device_stored_type(27), StoredType::bf16);
  EXPECT_EQ(device_stored_type(0), StoredType::i8) << "UNDEFINED, as msaccucmp reads it";
  EXPECT_EQ(device_data_type(DType::fp64), 12);
  EXPECT_EQ(device_data_type(DType::bf16), 27);
  // A dtype is read back as a type of its size.
  for (const DType dtype : kAllDTypes) {
    if (dtype > DType::boolean) {
      EXPECT_THAT([&] { device_data_type(dtype); },
                  ThrowsMessage<Error>(HasSubstr("has no number in device files")));
      continue;
    }
    EXPECT_EQ(size_of(device_stored_type(device_data_type(dtype))), size_of(dtype)) << name(dtype);
  }
}

// A text has no numbers. A bit is less than a byte.
TEST(DeviceTypes, WithoutNumbersAreRefused) {
  for (const std::int64_t number : {13, 29, 14, 99, -1}) {
    EXPECT_THAT([&] { device_stored_type(number); },
                ThrowsMessage<Error>(HasSubstr("data_type: found " + std::to_string(number))))
        << number;
  }
  EXPECT_THAT([] { device_stored_type(13); }, ThrowsMessage<Error>(HasSubstr("13 (STRING)")));
  EXPECT_THAT([] { device_stored_type(99); }, ThrowsMessage<Error>(HasSubstr("99 (unknown)")));
}

TEST(DeviceFormats, HaveNamesAndNumbers) {
  EXPECT_EQ(device_format_name(3), "NC1HWC0");
  EXPECT_EQ(device_format_name(28), "FRACTAL_ZZ");
  EXPECT_EQ(device_format_name(99), "FORMAT_99");
  EXPECT_EQ(device_format_number("FRACTAL_NZ"), 29);
  EXPECT_THAT([] { device_format_number("FRACTAL_NX"); },
              ThrowsMessage<Error>(HasSubstr("unknown format 'FRACTAL_NX'; did you mean")));
  EXPECT_EQ(device_format(3), Format::NC1HWC0);
  EXPECT_EQ(device_format(28), std::nullopt) << "no conversion knows it";
  EXPECT_EQ(device_format(-1), std::nullopt);
}

}  // namespace opbench
