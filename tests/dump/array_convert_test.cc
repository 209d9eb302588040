#include "dump/array_convert.h"

#include <gmock/gmock.h>

#include <cstring>

#include "dump/arrays/array_file.h"
#include "dump/arrays/numpy_writer.h"
#include "dump/dump_file.h"
#include "dump/dump_writer.h"
#include "tensor/error.h"
#include "tensor/half.h"
#include "tests/support/refusal.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;
using testing::StartsWith;

class ArrayConvert : public testing::Test, protected TempDir {
 protected:
  ConvertOutcome run(const std::string& source, const std::string& out,
                     const std::string& to = "") const {
    ArrayConversion conversion;
    conversion.sources = {path(source)};
    conversion.out = path(out);
    conversion.to = array_output(to, out);
    return convert_arrays(conversion, [] { return false; });
  }

  // Two records of an operator with tensors of several types, a list and scalars.
  void write_dump(const std::string& name) const {
    DumpWriter writer(path(name));
    for (const int seq : {3, 40}) {
      writer.begin_record("softplus", DeviceType::npu, {}, seq);
      const std::vector<half> halves = {half(0.5F), half(-65504.0F), half(2.0F),
                                        half(seq),  half(0.1F),      half(6e-8F)};
      writer.write_input("self", describe(DType::fp16, {2, 3}), halves.data());
      const std::vector<std::uint8_t> bytes = {0, 128, 255};
      writer.write_input("list/list_0", describe(DType::uint8, {3}), bytes.data());
      const std::vector<bfloat16> brains = {bfloat16(1.0F), bfloat16(-3.0F)};
      writer.write_input("list/list_1", describe(DType::bf16, {2, 1}), brains.data());
      writer.write_input_scalar("beta", 0.1);
      writer.write_input_scalar("dim", std::int64_t{-1});
      writer.write_input_scalar("keep", true);
      const std::uint8_t flags[] = {1, 0};
      writer.write_output("result", describe(DType::boolean, {2}), flags);
      const double one = 1.0 / 3;
      writer.write_output("loss", describe(DType::fp64, {}), &one);
      writer.write_output("none", describe(DType::fp32, {0, 4}), &one);
    }
    writer.finish();
  }

  // Descriptions of a dump's entries, without properties that array files do not store.
  static std::vector<std::string> described(const std::string& file) {
    DumpFile dump(file);
    std::vector<std::string> lines;
    for (const DumpRecord& record : dump.records()) {
      for (const DumpEntry& entry : record.entries) {
        const std::int64_t count = entry.desc.elements();
        std::vector<char> data(static_cast<std::size_t>(count) * size_of(entry.stored));
        dump.read(entry, {0, count}, data.data());
        lines.push_back(entry.path + " " + to_string(entry.desc) + " " + entry.stored_name +
                        (entry.kind == EntryKind::scalar ? " scalar " : " tensor ") +
                        std::string(data.begin(), data.end()));
      }
    }
    return lines;
  }
};

TEST_F(ArrayConvert, DumpsGoToEveryFormAndBack) {
  write_dump("npu.h5");
  std::vector<std::string> expected = described(path("npu.h5"));
  ASSERT_THAT(expected, SizeIs(18));
  // bf16 is float32 in array files.
  for (std::string& line : expected) {
    const std::size_t at = line.find(" bf16[");
    if (at != line.npos) line.replace(at, 6, " fp32[");
  }
  for (const std::string to : {"npy", "txt", "bin", "npz"}) {
    SCOPED_TRACE(to);
    const std::string middle = to == "npz" ? "all.npz" : to;
    const ConvertOutcome there = run("npu.h5", middle, to);
    EXPECT_EQ(there.written, 18);
    EXPECT_THAT(there.failures, IsEmpty());
    const ConvertOutcome back = run(middle, to + ".h5");
    EXPECT_EQ(back.written, 18);
    for (const ConvertFailure& failure : back.failures) ADD_FAILURE() << failure.reason;
    EXPECT_EQ(described(path(to + ".h5")), expected);
  }
}

TEST_F(ArrayConvert, FilesAreNamedAfterTheTensorsAndHaveTheTypeThatWasDumped) {
  write_dump("npu.h5");
  run("npu.h5", "out");
  run("npu.h5", "bin", "bin");
  run("npu.h5", "txt", "txt");
  ArrayFile file(path("out/softplus/3/input/self.npy"));
  EXPECT_EQ(file.entries()[0].desc, describe(DType::fp16, {2, 3}));
  ArrayFile list(path("out/softplus/40/input/list/list_0.npy"));
  EXPECT_EQ(list.entries()[0].desc, describe(DType::uint8, {3}));
  EXPECT_EQ(read("bin/softplus/3/input/list/list_0.3.uint8.bin"), std::string("\0\x80\xff", 3));
  EXPECT_EQ(read("bin/softplus/3/input/keep.scalar.bool.bin"), "\x01");
  EXPECT_THAT(read("txt/softplus/3/input/self.txt"),
              StartsWith("# float16 2x3\n5.000000000000000000e-01\n-6.550400000000000000e+04\n"));
  EXPECT_EQ(read("txt/softplus/3/output/none.txt"), "# float32 0x4\n");
}

// A dump of half precision with values of single precision: the file states a wrong type for one
// tensor.
TEST_F(ArrayConvert, ValuesThatAreNotOfTheirTypeAreKept) {
  {
    DumpWriter writer(path("x.h5"));
    writer.begin_record("op", DeviceType::npu);
    const float value = 0.1F;
    writer.write_output("result", describe(DType::fp32, {1}), &value);
    const half zero(0.0F);
    writer.write_output("half", describe(DType::fp16, {1}), &zero);
    writer.finish();
  }
  std::string bytes = read("x.h5");
  // DataType 1 and 10 are attributes of four bytes. The value of the fp16 tensor becomes 0.1.
  DumpFile dump(path("x.h5"));
  for (const DumpEntry& entry : dump.records()[0].entries) {
    const float value = 0.1F;
    std::memcpy(bytes.data() + entry.offset, &value, sizeof value);
  }
  write("y.h5", bytes);
  const ConvertOutcome outcome = run("y.h5", "out");
  EXPECT_THAT(outcome.failures, IsEmpty());
  EXPECT_THAT(outcome.remarks,
              ElementsAre(HasSubstr("/op/1/output/half: its values are not those of its DataType: "
                                    "0.1; written as stored")));
  ArrayFile file(path("out/op/1/output/half.npy"));
  EXPECT_EQ(file.entries()[0].stored, StoredType::f32);
}

TEST_F(ArrayConvert, OtherArraysBecomeRecordsOfTheirOwn) {
  const std::int32_t values[] = {1, 2};
  {
    NpzWriter writer(path("w.npz"));
    writer.begin("layer1/weight", StoredType::i32, {2});
    writer.write(values, sizeof values);
    writer.begin("count", StoredType::u16, {4});
    writer.write(values, sizeof values);
    writer.begin("huge", StoredType::u64, {1});
    writer.write(values, sizeof values);
    writer.finish();
  }
  const ConvertOutcome outcome = run("w.npz", "w.h5");
  ASSERT_THAT(outcome.failures, SizeIs(1));
  EXPECT_EQ(outcome.failures[0].reason, "huge: a dump has no uint64; --to npz has");
  DumpFile dump(path("w.h5"));
  ASSERT_THAT(dump.records(), SizeIs(2));
  EXPECT_EQ(dump.records()[1].entries[0].path, "/layer1.weight/1/output/result");
  EXPECT_EQ(dump.records()[0].entries[0].path, "/count/2/output/result");
  EXPECT_EQ(dump.records()[0].entries[0].desc, describe(DType::int32, {4}));
}

TEST_F(ArrayConvert, TorchFilesToo) {
  fs::copy_file(test_data("arrays/torch.pt"), path("torch.pt"));
  const ConvertOutcome outcome = run("torch.pt", "out");
  EXPECT_THAT(outcome.failures, IsEmpty());
  EXPECT_EQ(outcome.written, 13);
  ArrayFile file(path("out/model/weight.npy"));
  EXPECT_EQ(file.entries()[0].desc, describe(DType::fp32, {1, 2}));
}

TEST_F(ArrayConvert, NamesDoNotLeadOutOfTheDirectory) {
  {
    NpzWriter writer(path("evil.npz"));
    const std::vector<std::string> names = {"../up", "/etc/x", "a//b", "a/./b", "a/../b", "good"};
    for (const std::string& name : names) {
      writer.begin(name, StoredType::i8, {1});
      writer.write("x", 1);
    }
    writer.finish();
  }
  const ConvertOutcome outcome = run("evil.npz", "out");
  EXPECT_EQ(outcome.written, 1);
  ASSERT_THAT(outcome.failures, SizeIs(5));
  EXPECT_THAT(outcome.failures[0].reason, HasSubstr("its name is not a valid file name: '"));
  EXPECT_FALSE(fs::exists(path("up.npy")));
  EXPECT_THAT(files(), IsSupersetOf({"evil.npz", "out"}));
}

TEST_F(ArrayConvert, BadFilesDoNotStopTheOthers) {
  write("in/cut.npy", "\x93NUMPY");
  write("in/words.txt", "1 2\n3 x\n");
  write("in/ragged.txt", "1 2\n3\n");
  write("in/lying.txt", "# float32 2x2\n1 2 3\n");
  write("in/range.txt", "# int8 1\n300\n");
  write("in/x.bin", "1234");
  write("in/y.3.float32.bin", "1234");
  write("in/z.npz", "PK\x03\x04");
  write("in/notes.md", "");
  write("in/good.txt", "# a comment\n1.5\n2 # two\n\n-inf\n");
  const ConvertOutcome outcome = run("in", "out");
  std::vector<std::string> reasons;
  for (const ConvertFailure& failure : outcome.failures) {
    EXPECT_FALSE(failure.is_of_machine);
    reasons.push_back(failure.reason.substr(path("in/").size()));
  }
  std::sort(reasons.begin(), reasons.end());
  EXPECT_THAT(
      reasons,
      ElementsAre(
          HasSubstr("cut.npy: not a .npy file"),
          "lying.txt: shape: 2x2 needs 4 numbers, 3 are there",
          "ragged.txt:2: 1 numbers, but 2 in the lines before",
          "range.txt:2: found '300', expected a number of int8",
          "words.txt:2: found 'x', expected a number of float64",
          HasSubstr("x.bin: its name states no shape and type; expected NAME.SHAPE.TYPE.bin"),
          "y.3.float32.bin: size: found 4, but shape 3 of float32 needs 3 elements",
          HasSubstr("z.npz: not a .zip file, or its end is missing")));
  EXPECT_THAT(outcome.remarks, ElementsAre(HasSubstr("1 files of other kinds are left out")));
  ArrayFile file(path("out/good.npy"));
  std::vector<double> values(3);
  file.read(file.entries()[0], {0, 3}, values.data());
  EXPECT_THAT(values, ElementsAre(1.5, 2, -INFINITY));
}

TEST_F(ArrayConvert, SourcesAreNotReplaced) {
  {
    NpyWriter writer(path("x.npy"), StoredType::i8, {1});
    writer.write("a", 1);
    writer.finish();
  }
  const ConvertOutcome outcome = run("x.npy", ".", "npy");
  ASSERT_THAT(outcome.failures, SizeIs(1));
  EXPECT_THAT(outcome.failures[0].reason, HasSubstr("it would replace its own source"));
  write_dump("a.h5");
  EXPECT_THAT(refusal_by([&] { run("a.h5", "a.h5"); }), HasSubstr("cannot be replaced"));
}

TEST_F(ArrayConvert, NothingConvertedLeavesNoFile) {
  write("cut.npy", "\x93NUMPY");
  EXPECT_THAT(run("cut.npy", "x.npz").failures, SizeIs(1));
  EXPECT_THAT(run("cut.npy", "x.h5").failures, SizeIs(1));
  EXPECT_THAT(files(), ElementsAre("cut.npy"));
}

TEST(ArrayOutputs, AreToldByTheNameOfTheFile) {
  EXPECT_EQ(array_output("", "x.h5"), ArrayOutput::h5);
  EXPECT_EQ(array_output("", "x.npz"), ArrayOutput::npz);
  EXPECT_EQ(array_output("", "x"), ArrayOutput::npy);
  EXPECT_EQ(array_output("txt", "x.h5"), ArrayOutput::txt);
  EXPECT_THAT(refusal_by([] { array_output("nyp", "x"); }), HasSubstr("did you mean 'npy'?"));
  EXPECT_THAT(refusal_by([] { parse_device("gpu"); }), HasSubstr("allowed are cpu, cuda, npu"));
}

}  // namespace
}  // namespace opbench
