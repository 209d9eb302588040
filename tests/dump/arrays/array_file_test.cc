// tests/data/arrays holds files written by NumPy 1.24. Values of `a` are 0, 1/8, 2/8, .. in C
// order.
#include "dump/arrays/array_file.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "dump/arrays/npy_header.h"
#include "dump/arrays/numpy_writer.h"
#include "tensor/error.h"
#include "tests/dump/arrays/array_values.h"
#include "tests/support/refusal.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<double> eighths(int count) {
  std::vector<double> result(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) result[static_cast<std::size_t>(i)] = i / 8.0;
  return result;
}

template <class T>
std::vector<double> widened(const std::vector<T>& from) {
  return {from.begin(), from.end()};
}

TEST(ArrayFile, ReadsWhatNumPySaves) {
  ArrayFile file(test_data("arrays/numpy.npz"));
  EXPECT_THAT(file.problems(), IsEmpty());
  EXPECT_EQ(entry_of(file, "a").desc, describe(DType::fp32, {2, 3, 4}));
  EXPECT_EQ(widened(values<float>(file, "a")), eighths(24));
  EXPECT_EQ(widened(values<float>(file, "fortran")), eighths(24));
  EXPECT_EQ(values<double>(file, "big"), eighths(24));
  EXPECT_THAT(values<std::int64_t>(file, "b"), ElementsAre(7));
  EXPECT_EQ(entry_of(file, "b").desc.shape, Dims{});
  EXPECT_THAT(values<std::uint8_t>(file, "grads/grads_0"), ElementsAre(1, 0));
  EXPECT_EQ(entry_of(file, "grads/grads_0").stored, StoredType::boolean);
  EXPECT_EQ(entry_of(file, "empty").desc, describe(DType::fp16, {0, 3}));
  EXPECT_EQ(entry_of(file, "complex").stored, StoredType::c64);
  std::array<float, 4> parts{};  // byte order is reversed in each
  file.read(entry_of(file, "complex"), {0, 2}, parts.data());
  EXPECT_THAT(parts, ElementsAre(1, 2, 3, -4));
}

TEST(ArrayFile, UnpacksWhatNumPyCompresses) {
  ArrayFile file(test_data("arrays/numpy_compressed.npz"));
  EXPECT_EQ(widened(values<float>(file, "a")), eighths(24));
  EXPECT_EQ(widened(values<float>(file, "fortran")), eighths(12));
  float one = 0;  // at a lower offset, so the member is unpacked again
  file.read(entry_of(file, "a"), {5, 1}, &one);
  EXPECT_EQ(one, 5 / 8.0F);
  EXPECT_THAT(entry_of(file, "text").problem,
              HasSubstr("descr: unknown type '<U1'; allowed are f2 f4"));
  EXPECT_THAT(refusal_by([&] {
                file.read(entry_of(file, "text"), {0, 1}, &one);
              }),
              HasSubstr("npz: text: header: descr"));
}

TEST(ArrayFile, AnArrayWithoutANameHasOne) {
  ArrayFile file(test_data("arrays/nameless.npz"));
  EXPECT_THAT(values<std::int16_t>(file, "''"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ArrayFile, RangesAreChecked) {
  ArrayFile file(test_data("arrays/numpy.npz"));
  float one = 0;
  for (const ElementRange range : {ElementRange{24, 1}, {-1, 1}, {0, 25}, {1, INT64_MAX}}) {
    EXPECT_THAT(refusal_by([&] { file.read(entry_of(file, "a"), range, &one); }),
                HasSubstr("out of range, it has 24"));
  }
}

class ArrayFiles : public testing::Test, protected TempDir {
 protected:
  std::string refusal(std::string_view bytes) const {
    return bad_input_by([&] { ArrayFile file(write("x.npy", bytes)); });
  }
  // Returns a file of version 1.0 with this header.
  static std::string with_header(std::string_view header) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    return bytes + std::string(header);
  }
};

TEST_F(ArrayFiles, WhatIsWrittenComesBack) {
  const std::vector<std::int16_t> numbers = {-3, 0, 12345};
  NpyWriter writer(path("x.npy"), StoredType::i16, {3, 1});
  writer.write(numbers.data(), 6);
  writer.finish();
  ArrayFile file(path("x.npy"));
  ASSERT_EQ(file.entries().size(), 1u);
  EXPECT_EQ(file.entries()[0].name, "x");
  EXPECT_EQ(file.entries()[0].desc, describe(DType::int16, {3, 1}));
  EXPECT_EQ(values<std::int16_t>(file, "x"), numbers);
}

TEST_F(ArrayFiles, HeadersOfAllVersionsAndSpellings) {
  const std::string text = "{\"shape\": (3L,), 'fortran_order':True,'descr': '=u2'}";
  for (const int version : {2, 3}) {
    std::string bytes("\x93NUMPY\x02\x00\x00\x00\x00\x00", 12);
    bytes[6] = static_cast<char>(version);
    bytes[8] = static_cast<char>(text.size());
    ArrayFile file(write("x.npy", bytes + text + std::string("\x01\x00\x02\x00\x03\x00", 6)));
    EXPECT_THAT(values<std::uint16_t>(file, "x"), ElementsAre(1, 2, 3));
  }
}

TEST_F(ArrayFiles, BadHeadersAreNamed) {
  EXPECT_THAT(refusal(""), HasSubstr("x.npy: not a .npy file"));
  EXPECT_THAT(refusal("\x93NUMPY"), HasSubstr("not a .npy file"));
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x09\x00\x00\x00", 10)),
              EndsWith("version: found 9.0; allowed are 1.0, 2.0, 3.0"));
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x01\x00\x50\x00{'de", 14)),
              EndsWith("header: cut after 4 of 80 bytes"));
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x02\x00\x00\x00\x00\x7f", 12)),
              EndsWith("header length: found 2130706432, at most 1048576 is allowed"));
  const auto of = [&](const std::string& shape, const std::string& descr = "'<f4'") {
    return refusal(
        with_header("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}"));
  };
  EXPECT_THAT(of("(2, -3)"), HasSubstr("expected an extent of 0 to 9223372036854775807 in shape, "
                                       "found '-3)}'"));
  EXPECT_THAT(of("(4294967296, 4294967296)"), HasSubstr("header: shape: "));
  EXPECT_THAT(of("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), HasSubstr("more than 16 extents"));
  EXPECT_THAT(of("(2", "'<f4'"), HasSubstr("expected ')', found '}'"));
  EXPECT_THAT(of("(2,)", "'|O'"), HasSubstr("descr: unknown type '|O'; allowed are f2"));
  EXPECT_THAT(of("(2,)", "[('x', '<f4')]"), HasSubstr("descr: structured elements"));
  EXPECT_THAT(refusal(with_header("{'descr': '<f4', 'shape': (2,)}")),
              EndsWith("header: fortran_order is missing"));
  EXPECT_THAT(refusal(with_header("{'x': __import__('os')}")), HasSubstr("unknown key 'x'"));
}

TEST_F(ArrayFiles, DataThatIsCutOrTooLongIsTold) {
  const std::string header = npy_header(StoredType::f32, {3});
  ArrayFile cut(write("cut.npy", header + "12345678901"));
  EXPECT_EQ(cut.entries()[0].problem,
            "data: shape 3 needs 3 elements of float32, 11 bytes are there");
  ArrayFile longer(write("longer.npy", header + "12345678901234"));
  EXPECT_EQ(longer.entries()[0].problem, "");
  EXPECT_EQ(longer.entries()[0].warning, "2 bytes follow its data");
}

// Changes every byte of an archive, and cuts it at every length: the result must be an Error or
// values.
TEST_F(ArrayFiles, DamagedArchivesAreErrors) {
  for (const char* const name : {"arrays/numpy.npz", "arrays/numpy_compressed.npz"}) {
    const std::string whole = text_of(test_data(name));
    int refused = 0;
    const auto try_reading = [&](const std::string& bytes) {
      const std::string message = refusal_by([&] {
        ArrayFile file(write("x.npz", bytes));
        std::vector<double> room(64);
        for (const DumpEntry& entry : file.entries()) {
          if (entry.desc.elements() > 24) continue;
          file.read(entry, {0, entry.desc.elements()}, room.data());
        }
      });
      refused += message != "accepted";
    };
    for (std::size_t place = 0; place < whole.size(); place += 3) {
      std::string bytes = whole;
      bytes[place] = static_cast<char>(bytes[place] ^ 0x41);
      try_reading(bytes);
    }
    EXPECT_GT(refused, 0);
    refused = 0;
    int tried = 0;
    for (std::size_t size = 4; size < whole.size(); size += 7, ++tried) {
      try_reading(whole.substr(0, size));
    }
    EXPECT_EQ(refused, tried);  // the directory is at the end
  }
}

TEST_F(ArrayFiles, AChangedValueIsNoticedByTheSum) {
  std::string bytes = text_of(test_data("arrays/numpy.npz"));
  const float last_of_a = 23 / 8.0F;
  const std::size_t place = bytes.find(std::string(reinterpret_cast<const char*>(&last_of_a), 4));
  ASSERT_NE(place, bytes.npos);
  bytes[place] ^= 1;
  ArrayFile file(write("x.npz", bytes));
  std::vector<float> to(24);
  EXPECT_THAT(refusal_by([&] {
                file.read(entry_of(file, "a"), {0, 24}, to.data());
              }),
              EndsWith("member 'a.npy': damaged: its data does not give its CRC-32"));
}

TEST(ArrayFile, SuffixesAreKnown) {
  EXPECT_TRUE(has_array_suffix("a/b.npy"));
  EXPECT_TRUE(has_array_suffix("b.npz"));
  EXPECT_FALSE(has_array_suffix("b.h5"));
  EXPECT_FALSE(has_array_suffix("npy"));
}

}  // namespace
}  // namespace opbench
