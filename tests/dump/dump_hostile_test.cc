#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "tests/dump/dump_support.h"

// Files that no dumper wrote: damaged, misleading, or meant to make the reader leave the file.

namespace opbench::dump_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostileDump : public DumpTest {
 protected:
  // A file with the group /op/1/input, filled by `fill`, and one good tensor as /op/1/output/good.
  DumpReader reader_of(const std::function<void(H5::Group& input, H5::H5File& file)>& fill) {
    DumpWriter writer(path());
    const float value = 1;
    writer.begin_record("op", DeviceType::npu);
    writer.write_output("good", describe(DType::fp32, {}), &value);
    writer.finish();
    {
      H5::H5File file(path().string(), H5F_ACC_RDWR);
      H5::Group input = file.createGroup("/op/1/input");
      fill(input, file);
    }
    return DumpReader(path());
  }

  std::string opening(const fs::path& file) {
    return error_of([&] { DumpReader reader(file); });
  }

  std::string message(const std::string& at, const std::string& what) {
    return path().string() + ": " + at + ": " + what;
  }

  void write_valid(const fs::path& file) {
    DumpWriter writer(file);
    writer.begin_record("op", DeviceType::npu);
    const std::vector<float> values(1000, 1.0f);
    writer.write_output("good", describe(DType::fp32, {1000}), values.data());
    writer.finish();
  }
};

// The only record's good tensor is there whatever stands beside it.
void expect_good_output(DumpReader& reader) {
  ASSERT_GE(reader.records().size(), 1u);
  const DumpRecord& record = reader.records().front();
  ASSERT_EQ(record.outputs.size(), 1u);
  EXPECT_EQ(record.outputs[0].problem, "");
  EXPECT_THAT(read_as<float>(reader, record.outputs[0]), ElementsAre(1.0f));
}

TEST_F(HostileDump, FilesThatCannotBeOpened) {
  const std::string x = path().string();
  EXPECT_EQ(opening(path()), "cannot open " + x + ": No such file or directory");
  EXPECT_EQ(opening(directory_), "cannot open " + directory_.string() + ": Is a directory");
  EXPECT_EQ(opening("/dev/null"), "cannot open /dev/null: not a regular file");
  mkfifo(path("pipe").c_str(), 0600);
  EXPECT_EQ(opening(path("pipe")), "cannot open " + path("pipe").string() + ": not a regular file");
  std::ofstream(path()) << "";
  EXPECT_EQ(opening(path()), "cannot open " + x + ": not an HDF5 file");
  std::ofstream(path()) << "softplus,1.25\n";
  EXPECT_EQ(opening(path()), "cannot open " + x + ": not an HDF5 file");
}

TEST_F(HostileDump, TruncatedFiles) {
  write_valid(path());
  const std::uintmax_t size = fs::file_size(path());
  fs::resize_file(path(), size - 1);
  EXPECT_THAT(opening(path()), HasSubstr("cannot open " + path().string() + ": truncated file"));
  for (const std::uintmax_t length : {std::uintmax_t{1}, std::uintmax_t{50}, std::uintmax_t{96}}) {
    write_valid(path());
    fs::resize_file(path(), length);
    EXPECT_THAT(opening(path()), HasSubstr("cannot open " + path().string())) << length;
  }
}

TEST_F(HostileDump, OtherHdf5FilesAreNoDumps) {
  {
    H5::H5File file(path().string(), H5F_ACC_TRUNC);
    file.createDataSet("weights", H5::PredType::IEEE_F32LE, H5::DataSpace(H5S_SCALAR));
  }
  EXPECT_EQ(opening(path()),
            path().string() + ": no record /{op}/{seq} of a dump found; " +
                message("/weights", "a dataset where an operator's group is expected"));
}

TEST_F(HostileDump, GroupsInUnexpectedPlaces) {
  DumpReader reader = reader_of([](H5::Group& input, H5::H5File& file) {
    const H5::DataSpace scalar(H5S_SCALAR);
    file.createDataSet("/loose", H5::PredType::IEEE_F32LE, scalar);
    file.createDataSet("/op/2", H5::PredType::IEEE_F32LE, scalar);
    file.createDataSet("/op/1/loose", H5::PredType::IEEE_F32LE, scalar);
    file.createGroup("/op/1/inputs");
    file.createGroup("/op/input");
    for (const char* name : {"/op/01", "/op/-1", "/op/99999999999", "/op/1e3", "/op/3 "}) {
      file.createGroup(name);
    }
    H5::IntType(H5::PredType::NATIVE_INT).commit(file, "/type");
    input.createGroup("empty");
    input.createGroup("list");
    input.createGroup("list/element");
  });
  expect_good_output(reader);
  EXPECT_EQ(reader.records().size(), 1u);
  const std::string number = "a record must be named by its number";
  EXPECT_THAT(
      reader.problems(),
      ::testing::UnorderedElementsAre(
          message("/loose", "a dataset where an operator's group is expected"),
          message("/type", "a named datatype where an operator's group is expected"),
          message("/op/2", "a dataset where a record's group, named by its number is expected"),
          message("/op/1/loose", "a dataset where the group input or output is expected"),
          message("/op/1/inputs", "only input and output are allowed here"),
          message("/op/input", number), message("/op/01", number), message("/op/-1", number),
          message("/op/99999999999", number), message("/op/1e3", number),
          message("/op/3 ", number)));
  ASSERT_EQ(reader.records()[0].inputs.size(), 1u);
  EXPECT_EQ(reader.records()[0].inputs[0].name, "list/element");
  EXPECT_EQ(reader.records()[0].inputs[0].problem,
            message("/op/1/input/list/element", "a group where a dataset is expected"));
}

TEST_F(HostileDump, LinksAreNotFollowed) {
  write_valid(path("other.h5"));
  DumpReader reader = reader_of([](H5::Group& input, H5::H5File& file) {
    H5Lcreate_external("other.h5", "/op/1/output/good", input.getId(), "a", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/op/1", file.getId(), "/op/2", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/op", file.getId(), "/op2", H5P_DEFAULT, H5P_DEFAULT);
    input.link(H5L_TYPE_SOFT, "/op/1/input/c", "b");
    input.link(H5L_TYPE_SOFT, "/op/1/input/b", "c");
    input.link(H5L_TYPE_SOFT, "/op/1/output/good", "d");
    file.link(H5L_TYPE_SOFT, "/op3", "/op3");
  });
  expect_good_output(reader);
  const std::string external = "an external link, which is not followed";
  const std::string soft = "a soft link, which is not followed";
  EXPECT_THAT(reader.problems(), ElementsAre(message("/op/2", external), message("/op2", external),
                                             message("/op3", soft)));
  std::vector<std::string> problems;
  for (const DumpEntry& entry : reader.records()[0].inputs) problems.push_back(entry.problem);
  EXPECT_THAT(problems,
              ElementsAre(message("/op/1/input/a", external), message("/op/1/input/b", soft),
                          message("/op/1/input/c", soft), message("/op/1/input/d", soft)));
  EXPECT_EQ(error_of([&] { read_as<float>(reader, reader.records()[0].inputs[0]); }), problems[0]);
}

TEST_F(HostileDump, GroupsThatHoldThemselvesEnd) {
  DumpReader reader = reader_of([](H5::Group& input, H5::H5File& file) {
    for (int i = 2; i < 30; ++i) {
      file.link(H5L_TYPE_HARD, "/op", "/op" + std::to_string(i));
      file.link(H5L_TYPE_HARD, "/op", "/op/" + std::to_string(i));
      file.link(H5L_TYPE_HARD, "/", "/root" + std::to_string(i));
      input.link(H5L_TYPE_HARD, "/op/1", "list" + std::to_string(i));
    }
  });
  EXPECT_EQ(reader.records().size(), 1u);
  EXPECT_EQ(reader.problems().size(), 3u * 28u);
  EXPECT_EQ(reader.records()[0].inputs.size(), 28u);
  EXPECT_EQ(reader.records()[0].inputs[0].problem,
            message("/op/1/input/list2", "a group that is linked more than once"));
  expect_good_output(reader);
}

TEST_F(HostileDump, NamesDoNotSteerTheTerminal) {
  DumpReader reader =
      reader_of([](H5::Group& input, H5::H5File&) { input.createGroup("a\x1b[31m"); });
  ASSERT_EQ(reader.records()[0].inputs.size(), 1u);
  EXPECT_EQ(reader.records()[0].inputs[0].problem,
            message("/op/1/input/a\\x1b[31m", "it contains control characters"));
}

}  // namespace
}  // namespace opbench::dump_tests
