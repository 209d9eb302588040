// tests/data/msaccucmp_convert holds device dumps and the files that msaccucmp of CANN 8.1.RC1
// converted them to; tests/data/msaccucmp_convert_bugs holds dumps that it converts wrongly, with
// its results.
#include "dump/device_convert.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dump/arrays/array_file.h"
#include "tensor/error.h"
#include "tests/support/refusal.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Dims dims_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', 'x');
  return parse_dims(text);
}

// Text of a file of msaccucmp. It writes empty tensors as float64 for every type; the only one in
// these cases is float32.
std::string expected_text(const fs::path& file) {
  std::string text = text_of(file);
  const std::size_t type = text.find("'<f8', 'fortran_order': False, 'shape': (0, 3)");
  if (type != text.npos) text[type + 3] = '4';
  return text;
}

class DeviceConvert : public testing::Test, protected TempDir {
 protected:
  // Reads the options of a case from its meta.json.
  DeviceConversion conversion_of(const fs::path& folder) const {
    const nlohmann::json meta = nlohmann::json::parse(std::ifstream(folder / "meta.json"));
    DeviceConversion conversion;
    const std::string name = folder.filename();
    if (name == "directory" || name == "overflow") {
      conversion.sources = {folder / "in"};
    } else {
      for (const auto& file : fs::directory_iterator(folder / "in")) {
        conversion.sources.push_back(file.path());
      }
    }
    conversion.out = directory() / name;
    const std::vector<std::string> words = meta["cmd"];
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string& value = words[i + 1];
      if (words[i] == "-f") conversion.format = value;
      if (words[i] == "-s") conversion.shape = dims_of(value);
      if (words[i] == "-v") conversion.version = static_cast<DeviceDumpVersion>(std::stoi(value));
      if (words[i] == "-t" && value == "bin") conversion.output = DeviceOutput::bin;
      if (words[i] == "-t" && value == "msnpy") conversion.output = DeviceOutput::msnpy;
      if (words[i] == "-o" || words[i] == "-i") {
        conversion.only.emplace();
        conversion.only->side = words[i] == "-i" ? Side::input : Side::output;
        conversion.only->index = std::stoi(value);
      }
    }
    return conversion;
  }

  ConvertOutcome run(const DeviceConversion& conversion) const {
    return convert_device_dumps(conversion, [] { return false; });
  }

  // Runs a case of msaccucmp_convert_bugs and reads its only output file.
  ConvertOutcome run_bug(const std::string& name) const {
    return run(conversion_of(test_data("msaccucmp_convert_bugs/" + name)));
  }
  std::string only_file(const std::string& name) const {
    std::string found;
    for (const auto& file : fs::directory_iterator(directory() / name)) {
      EXPECT_EQ(found, "") << file.path();
      found = file.path();
    }
    return found;
  }

  template <class T>
  static std::vector<T> array(const std::string& path, const Dims& shape) {
    ArrayFile file(path);
    const DumpEntry& entry = file.entries().front();
    EXPECT_EQ(entry.desc.shape, shape);
    EXPECT_EQ(size_of(entry.stored), sizeof(T));
    std::vector<T> values(static_cast<std::size_t>(entry.desc.elements()));
    file.read(entry, {0, entry.desc.elements()}, values.data());
    return values;
  }

  // Returns the stored elements of a case, which follow the header.
  template <class T>
  static std::vector<T> stored(const std::string& name, std::size_t count) {
    const fs::path folder = test_data("msaccucmp_convert_bugs/" + name) / "in";
    const std::string bytes = text_of(fs::directory_iterator(folder)->path());
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes.data() + bytes.size() - count * sizeof(T), count * sizeof(T));
    return values;
  }

  // Writes a dump of version 2 with these header bytes.
  std::string dump(std::string_view header, std::string_view data,
                   std::string_view name = "Op.op.1.2.3") const {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    return write(name, bytes + std::string(header) + std::string(data));
  }
};

TEST_F(DeviceConvert, AsMsaccucmpByteForByte) {
  int cases = 0;
  for (const auto& folder : fs::directory_iterator(test_data("msaccucmp_convert"))) {
    SCOPED_TRACE(folder.path().filename());
    const ConvertOutcome outcome = run(conversion_of(folder.path()));
    for (const ConvertFailure& failure : outcome.failures) ADD_FAILURE() << failure.reason;
    for (const auto& expected : fs::directory_iterator(folder.path() / "expected")) {
      const std::string name = expected.path().filename();
      if (name == "overflow_summary.txt") continue;  // written by another command
      const fs::path actual = directory() / folder.path().filename() / name;
      EXPECT_TRUE(fs::exists(actual)) << name;
      EXPECT_EQ(text_of(actual), expected_text(expected.path())) << name;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 37);
}

TEST_F(DeviceConvert, NoMoreFilesThanMsaccucmpWrites) {
  for (const auto& folder : fs::directory_iterator(test_data("msaccucmp_convert"))) {
    if (folder.path().filename() == "overflow") continue;
    run(conversion_of(folder.path()));
    for (const auto& file : fs::directory_iterator(directory() / folder.path().filename())) {
      EXPECT_TRUE(fs::exists(folder.path() / "expected" / file.path().filename())) << file.path();
    }
  }
}

// The header describes a file with one bf16 output of shape [2] and one fp16 input of [2, 2].
TEST_F(DeviceConvert, Bfloat16IsWrittenAsFloat32) {
  const ConvertOutcome outcome = run_bug("bf16");
  EXPECT_THAT(outcome.failures, IsEmpty());
  const std::string base = path("bf16/Conv2D.scope_op.3.7.1670205071724946");
  const auto raw = stored<std::uint16_t>("bf16", 2);
  const auto values = array<std::uint32_t>(base + ".output.0.npy", {2});
  EXPECT_THAT(values, ElementsAre(raw[0] << 16, raw[1] << 16));
  array<std::uint16_t>(base + ".input.0.npy", {2, 2});
}

// Stored [2,1,3,4,16]; original_shape [2,5,3,4] is NCHW, the target HWCN.
TEST_F(DeviceConvert, OriginalShapeInAnotherOrderThanTheTarget) {
  EXPECT_THAT(run_bug("crop_ignores_format").failures, IsEmpty());
  const auto raw = stored<std::uint16_t>("crop_ignores_format", 2 * 3 * 4 * 16);
  const auto values = array<std::uint16_t>(only_file("crop_ignores_format"), {3, 4, 5, 2});
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t c = 0; c < 5; ++c) {
      for (std::size_t hw = 0; hw < 12; ++hw) {
        EXPECT_EQ(values[(hw * 5 + c) * 2 + n], raw[(n * 12 + hw) * 16 + c]);
      }
    }
  }
}

TEST_F(DeviceConvert, EmptyTensorsKeepTheirType) {
  EXPECT_THAT(run_bug("empty_dtype").failures, IsEmpty());
  ArrayFile file(only_file("empty_dtype"));
  EXPECT_EQ(file.entries()[0].stored, StoredType::i32);
  EXPECT_EQ(file.entries()[0].desc.shape, (Dims{0, 3}));
}

// Weight NCHW [20,5,3,2] in 2 groups: both share a block; group g has channels 5g.. and rows 10g..
TEST_F(DeviceConvert, GroupedWeightsOutOfFractals) {
  EXPECT_THAT(run_bug("fz_grouped").failures, IsEmpty());
  const auto raw = stored<std::uint16_t>("fz_grouped", 6 * 2 * 16 * 16);
  const auto values = array<std::uint16_t>(only_file("fz_grouped"), {20, 5, 3, 2});
  for (std::size_t n = 0; n < 20; ++n) {
    for (std::size_t c = 0; c < 5; ++c) {
      for (std::size_t hw = 0; hw < 6; ++hw) {
        const std::size_t column = n / 10 * 5 + c;  // below 16: one block of channels
        EXPECT_EQ(values[(n * 5 + c) * 6 + hw],
                  raw[((hw * 2 + n / 16) * 16 + n % 16) * 16 + column]);
      }
    }
  }
}

// Weight [64,16,1,1] in 4 groups of 16 rows and 16 channels: a block for each, 64*16 values.
TEST_F(DeviceConvert, GroupsDoNotOverwriteEachOther) {
  EXPECT_THAT(run_bug("group_fz_overlap").failures, IsEmpty());
  EXPECT_EQ(array<std::uint16_t>(only_file("group_fz_overlap"), {4, 1, 16, 16}),
            stored<std::uint16_t>("group_fz_overlap", 1024));
}

// int8 weight [20,40,3,2]: C0 is 32, so there are 2 blocks of channels.
TEST_F(DeviceConvert, EightBitsHaveBlocksOf32) {
  EXPECT_THAT(run_bug("int8_to_fz_c0").failures, IsEmpty());
  const auto raw = stored<std::uint8_t>("int8_to_fz_c0", 20 * 40 * 6);
  const auto values = array<std::uint8_t>(only_file("int8_to_fz_c0"), {12, 2, 16, 32});
  std::size_t zeros = 0;
  for (std::size_t c = 0; c < 64; ++c) {
    for (std::size_t n = 0; n < 32; ++n) {
      for (std::size_t hw = 0; hw < 6; ++hw) {
        const std::uint8_t value =
            values[(((c / 32 * 6 + hw) * 2 + n / 16) * 16 + n % 16) * 32 + c % 32];
        const bool is_inside = n < 20 && c < 40;
        EXPECT_EQ(value, is_inside ? raw[(n * 40 + c) * 6 + hw] : 0);
        zeros += !is_inside;
      }
    }
  }
  EXPECT_EQ(zeros, values.size() - raw.size());
}

// FRACTAL_NZ [2,3,3,2,16,16] of [2,3,20,37].
TEST_F(DeviceConvert, LeadingAxesOfMatricesStay) {
  EXPECT_THAT(run_bug("nz4d_collapsed").failures, IsEmpty());
  const auto raw = stored<std::uint16_t>("nz4d_collapsed", 6 * 3 * 2 * 256);
  const auto values = array<std::uint16_t>(only_file("nz4d_collapsed"), {2, 3, 20, 37});
  for (std::size_t b = 0; b < 6; ++b) {
    for (std::size_t m = 0; m < 20; ++m) {
      for (std::size_t k = 0; k < 37; ++k) {
        EXPECT_EQ(values[(b * 20 + m) * 37 + k],
                  raw[(((b * 3 + k / 16) * 2 + m / 16) * 16 + m % 16) * 16 + k % 16]);
      }
    }
  }
}

// int8 [2,2,16,32] of [20,40]: 24 columns of padding.
TEST_F(DeviceConvert, EightBitMatricesHaveUpTo31ColumnsOfPadding) {
  EXPECT_THAT(run_bug("nz_int8_pad").failures, IsEmpty());
  const auto raw = stored<std::uint8_t>("nz_int8_pad", 2048);
  const auto values = array<std::uint8_t>(only_file("nz_int8_pad"), {20, 40});
  for (std::size_t m = 0; m < 20; ++m) {
    for (std::size_t k = 0; k < 40; ++k) {
      EXPECT_EQ(values[m * 40 + k], raw[((k / 32 * 2 + m / 16) * 16 + m % 16) * 32 + k % 32]);
    }
  }
}

TEST_F(DeviceConvert, SurplusBytesAreAnErrorAndNothingIsWritten) {
  const ConvertOutcome outcome = run_bug("trailing_bytes");
  ASSERT_THAT(outcome.failures, SizeIs(1));
  EXPECT_THAT(outcome.failures[0].reason,
              HasSubstr("1670205071724946: size: header and data take 56 bytes, the file has 58"));
  EXPECT_TRUE(fs::is_empty(directory() / "trailing_bytes"));
}

TEST_F(DeviceConvert, BadFilesAreNamedWithTheirFieldAndDoNotStopOthers) {
  const std::string good("\x1a\x0b\x08\x01\x10\x02\x1a\x03\x0a\x01\x02\x30\x08", 13);
  dump(good, "12345678", "Good.good.1.2.3");
  dump(good, "1234567", "Cut.cut.1.2.3");
  write("Short.short.1.2.3", "123");
  write("Long.long.1.2.3", std::string("\xff\0\0\0\0\0\0\0ab", 10));
  dump("\xff\xff", "", "NoMessage.x.1.2.3");
  dump(std::string("\x1a\x0b\x08\x01\x10\x02\x1a\x03\x0a\x01\x03\x30\x08", 13), "12345678",
       "Lying.size.1.2.3");
  dump(std::string("\x1a\x0b\x08\x0d\x10\x02\x1a\x03\x0a\x01\x02\x30\x08", 13), "12345678",
       "Text.text.1.2.3");
  // A varint of ten bytes: -1.
  dump(std::string("\x1a\x14\x08\x01\x10\x02\x1a\x0c\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                   "\x01\x30\x08",
                   22),
       "12345678", "Negative.dim.1.2.3");
  write("notes.txt", "not a dump");
  DeviceConversion conversion;
  conversion.sources = {directory()};
  conversion.out = directory() / "out";
  const ConvertOutcome outcome = run(conversion);
  std::vector<std::string> reasons;
  for (const ConvertFailure& failure : outcome.failures) {
    EXPECT_FALSE(failure.is_of_machine);
    reasons.push_back(failure.reason.substr(directory().string().size() + 1));
  }
  EXPECT_THAT(
      reasons,
      ElementsAre("Cut.cut.1.2.3: output[0].size: found 8, but 7 bytes are left",
                  "Long.long.1.2.3: header length: found 255, but 2 bytes follow",
                  "Lying.size.1.2.3: output[0].size: found 8, but shape 3 of float32 needs 3 "
                  "elements",
                  "Negative.dim.1.2.3: output[0].shape: found an extent of 18446744073709551615, "
                  "that is -1",
                  "NoMessage.x.1.2.3: header: its 2 bytes are not a DumpData message; files of "
                  "version 1 are read with -v 1",
                  "Short.short.1.2.3: header length: the file has 3 bytes, 8 are needed",
                  testing::StartsWith("Text.text.1.2.3: output[0].data_type: found 13 (STRING); "
                                      "allowed are 0 UNDEFINED, 1 FLOAT")));
  EXPECT_THAT(outcome.remarks, ElementsAre(HasSubstr("1 files are left out")));
  EXPECT_EQ(outcome.written, 1);
  EXPECT_THAT(only_file("out"), EndsWith("Good.good.1.2.3.output.0.npy"));
}

TEST_F(DeviceConvert, ShapesThatDoNotFitAreRefused) {
  DeviceConversion conversion = conversion_of(test_data("msaccucmp_convert/nc1hwc0_c16_nchw"));
  const auto reason_for = [&](const std::string& format, const Dims& shape) {
    conversion.format = format;
    conversion.shape = shape;
    const ConvertOutcome outcome = run(conversion);
    EXPECT_EQ(outcome.written, 0);
    return outcome.failures.empty() ? "accepted" : outcome.failures[0].reason;
  };
  EXPECT_THAT(reason_for("NCHW", {2, 17, 3, 4}),
              EndsWith("output[0].original_shape: 2x17x3x4 does not fit NC1HWC0 of shape "
                       "2x1x3x4x16; no order of its axes gives the stored shape"));
  EXPECT_THAT(reason_for("NCHW", {2, 5}), EndsWith("4 extents are needed"));
  EXPECT_THAT(reason_for("FRACTAL_NZ", {}),
              EndsWith("no conversion from NC1HWC0 of shape 2x1x3x4x16 to FRACTAL_NZ"));
  EXPECT_THAT(refusal_by([&] { reason_for("NCWH", {}); }),
              HasSubstr("unknown format 'NCWH'; did you mean 'NCHW'?"));
  conversion.only->index = 7;
  EXPECT_THAT(reason_for("NCHW", {}), EndsWith("it has no output[7]"));
}

TEST_F(DeviceConvert, NamesOfMappingCsvAndNamesThatAreTooLong) {
  const std::string good("\x1a\x0b\x08\x01\x10\x02\x1a\x03\x0a\x01\x02\x30\x08", 13);
  const std::string longest = "Op." + std::string(240, 'x') + ".1.2.3";
  write("in/mapping.csv", "12345,Relu.relu_1.5.6.7\r\n678," + longest + "\n");
  dump(good, "12345678", "in/12345");
  dump(good, "12345678", "in/678");
  dump(good, "12345678", "in/sub/Add.add.1.2.3");
  DeviceConversion conversion;
  conversion.sources = {directory() / "in"};
  conversion.out = directory() / "out";
  const ConvertOutcome outcome = run(conversion);
  EXPECT_THAT(outcome.failures, IsEmpty());
  EXPECT_EQ(outcome.written, 3);
  EXPECT_TRUE(fs::exists(path("out/Relu.relu_1.5.6.7.output.0.npy")));
  EXPECT_TRUE(fs::exists(path("out/sub/Add.add.1.2.3.output.0.npy")));
  const std::string mapping = read("out/mapping.csv");
  EXPECT_THAT(mapping, EndsWith(".npy," + longest + ".output.0.npy\n"));
  EXPECT_TRUE(fs::exists(path("out/" + mapping.substr(0, mapping.find(',')))));
  write("in/mapping.csv", "1,a/b\n");
  EXPECT_THAT(refusal_by([&] { run(conversion); }), HasSubstr("mapping.csv:1: expected"));
}

}  // namespace
}  // namespace opbench
