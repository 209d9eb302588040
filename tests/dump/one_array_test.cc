#include "dump/one_array.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

template <class T>
std::vector<T> values_of(const TextArray& array) {
  std::vector<T> values(array.elements.size() / sizeof(T));
  std::memcpy(values.data(), array.elements.data(), array.elements.size());
  return values;
}

class OneArray : public testing::Test, protected TempDir {
 protected:
  TextArray read_text(const std::string& text) const { return read_txt(write("a.txt", text)); }
  void expect_refused(const std::string& text, const std::string& why) const {
    EXPECT_THAT([&] { read_text(text); }, ThrowsMessage<Error>(HasSubstr("a.txt:" + why))) << text;
  }
  template <class T>
  std::string written(StoredType type, const Dims& shape, const std::vector<T>& values) const {
    write_txt(path("w.txt"), type, shape, [&](ElementRange range, void* to) {
      std::memcpy(to, values.data() + range.first,
                  static_cast<std::size_t>(range.count) * sizeof(T));
    });
    return read("w.txt");
  }
};

}  // namespace

// The digits are those of numpy.savetxt for these values.
TEST_F(OneArray, IsWrittenAsNumpyWritesIt) {
  EXPECT_EQ(written<float>(StoredType::f32, {2, 2}, {0.1F, -0.0F, 1e20F, -std::nanf("")}),
            "# float32 2x2\n1.000000014901161194e-01\n-0.000000000000000000e+00\n"
            "1.000000020040877343e+20\nnan\n");
  EXPECT_EQ(written<std::int8_t>(StoredType::i8, {2}, {-7, 8}), "# int8 2\n-7\n8\n");
}

TEST_F(OneArray, ReadsBackWhatItWrote) {
  const std::vector<float> values = {0.1F, -0.0F, 3e-45F, 16777216};
  const TextArray array = read_text(written<float>(StoredType::f32, {2, 2}, values));
  EXPECT_EQ(array.type, StoredType::f32);
  EXPECT_EQ(array.shape, (Dims{2, 2}));
  const std::vector<float> found = values_of<float>(array);
  EXPECT_EQ(std::memcmp(found.data(), values.data(), sizeof(float) * 4), 0);
}

// Numbers are read like by numpy.loadtxt: rows and columns, a single row or column as a vector,
// commas and comments.
TEST_F(OneArray, ReadsNumbersAsTheyStand) {
  const TextArray matrix = read_text("1 2 3\n4,5,6 # behind\n\n");
  EXPECT_EQ(matrix.type, StoredType::f64);
  EXPECT_EQ(matrix.shape, (Dims{2, 3}));
  EXPECT_THAT(values_of<double>(matrix), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(read_text("1 2 3\n").shape, (Dims{3}));
  EXPECT_EQ(read_text("1\r\n2\r\n").shape, (Dims{2}));
}

TEST_F(OneArray, RefusesWhatIsNoArray) {
  expect_refused("1 2\n3\n", "2: 1 numbers, but 2 in the lines before");
  expect_refused("1 x\n", "1: found 'x', expected a number of float64");
  expect_refused("# int8 2\n1\n300\n", "3: found '300', expected a number of int8");
  expect_refused("# float32 2x3\n1 2 3\n", " shape: 2x3 needs 6 numbers, 3 are there");
  expect_refused("# float32 2xx3\n1\n", "1: ");
}

TEST_F(OneArray, KnowsNumpysNames) {
  EXPECT_EQ(parse_numpy_name("float16"), StoredType::f16);
  EXPECT_EQ(parse_numpy_name("bfloat16"), StoredType::bf16);
  EXPECT_EQ(parse_numpy_name("complex128"), StoredType::c128);
  EXPECT_EQ(parse_numpy_name("float"), StoredType::none);
  EXPECT_EQ(parse_numpy_name(""), StoredType::none);
  EXPECT_EQ(written_type(StoredType::bf16), StoredType::f32);
  EXPECT_EQ(written_type(StoredType::f16), StoredType::f16);
}

// 0x3FC0 is 1.5 in bf16, which numpy does not have.
TEST_F(OneArray, WidensBf16) {
  EXPECT_EQ(written<std::uint16_t>(StoredType::bf16, {2}, {0x3FC0, 0xC000}),
            "# float32 2\n1.500000000000000000e+00\n-2.000000000000000000e+00\n");
}

}  // namespace opbench
