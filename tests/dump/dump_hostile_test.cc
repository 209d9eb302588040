#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "tests/dump/dump_support.h"

// Files that no dumper wrote: damaged, misleading, or made to lead the reader out of the file.

namespace opbench::dump_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostileDump : public DumpTest {
 protected:
  // Opens a file with the group /op/1/input, filled by `fill`, and a good tensor /op/1/output/good.
  DumpFile reader_of(const std::function<void(H5::Group& input, H5::H5File& file)>& fill) {
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
    return DumpFile(path());
  }

  std::string opening(const fs::path& file) {
    return error_of([&] { DumpFile(file).records(); });
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

// The only record's good tensor must be listed independent of its neighbours.
void expect_good_output(DumpFile& reader) {
  ASSERT_GE(reader.records().size(), 1u);
  const DumpRecord& record = reader.records().front();
  ASSERT_EQ(outputs_of(record).size(), 1u);
  EXPECT_EQ(outputs_of(record)[0].problem, "");
  EXPECT_THAT(read_as<float>(reader, outputs_of(record)[0]), ElementsAre(1.0f));
}

TEST_F(HostileDump, FilesThatCannotBeOpened) {
  const std::string x = path().string();
  EXPECT_EQ(opening(path()), "cannot open " + x + ": No such file or directory");
  EXPECT_EQ(opening(directory()), "cannot open " + directory().string() + ": Is a directory");
  EXPECT_EQ(opening("/dev/null"), "cannot open /dev/null: not a regular file");
  mkfifo(path("pipe").c_str(), 0600);
  EXPECT_EQ(opening(path("pipe")), "cannot open " + path("pipe").string() + ": not a regular file");
  std::ofstream(path()) << "";
  EXPECT_THAT(opening(path()),
              testing::StartsWith("cannot open " + x + ": not an HDF5 file; a dump is"));
  std::ofstream(path()) << "softplus,1.25\n";
  EXPECT_THAT(opening(path()),
              testing::StartsWith("cannot open " + x + ": not an HDF5 file; a dump is"));
}

TEST_F(HostileDump, TruncatedFiles) {
  write_valid(path());
  const std::uintmax_t size = fs::file_size(path());
  fs::resize_file(path(), size - 1);
  EXPECT_THAT(opening(path()),
              HasSubstr("cannot open " + path().string() + ": truncated file: it has "));
  for (const std::uintmax_t length : {std::uintmax_t{1}, std::uintmax_t{50}, std::uintmax_t{96}}) {
    write_valid(path());
    fs::resize_file(path(), length);
    EXPECT_THAT(opening(path()), HasSubstr("cannot open " + path().string())) << length;
  }
}

std::vector<std::string> paths_of(const std::vector<DumpEntry>& entries) {
  std::vector<std::string> paths;
  for (const DumpEntry& entry : entries) paths.push_back(entry.path);
  return paths;
}

TEST_F(HostileDump, DatasetsOutsideOfRecordsAreListed) {
  {
    H5::H5File file(path().string(), H5F_ACC_TRUNC);
    const H5::DataSpace scalar(H5S_SCALAR);
    file.createDataSet("weights", H5::PredType::IEEE_F32LE, scalar);
    file.createGroup("op");
    file.createDataSet("op/loose", H5::PredType::IEEE_F32LE, scalar);
  }
  DumpFile reader(path());
  EXPECT_TRUE(reader.records().empty());
  EXPECT_TRUE(reader.problems().empty());
  EXPECT_THAT(paths_of(reader.strays()), ElementsAre("/op/loose", "/weights"));
}

TEST_F(HostileDump, AnyNameIsARecord) {
  DumpFile reader = reader_of([](H5::Group& input, H5::H5File& file) {
    const H5::DataSpace scalar(H5S_SCALAR);
    file.createDataSet("/op/1/loose", H5::PredType::IEEE_F32LE, scalar);
    file.createGroup("/op/1/extra");
    file.createGroup("/op/1/extra/deep");
    file.createDataSet("/op/1/extra/deep/x", H5::PredType::IEEE_F32LE, scalar);
    for (const char* name : {"/op/01", "/op/-1", "/op/99999999999999999999", "/op/step1"}) {
      file.createGroup(name);
    }
    H5::IntType(H5::PredType::NATIVE_INT).commit(file, "/type");
    input.createGroup("list");
    input.createDataSet("list/a-b.c:0", H5::PredType::IEEE_F32LE, scalar);
  });
  std::vector<std::string> names;
  for (const DumpRecord& record : reader.records()) {
    names.push_back(record.seq ? fmt::format("{}={}", record.seq_text, *record.seq)
                               : record.seq_text);
  }
  EXPECT_THAT(names, ElementsAre("-1=-1", "01=1", "1=1", "99999999999999999999", "step1"));
  const DumpRecord& record = reader.records()[2];
  EXPECT_THAT(paths_of(record.entries),
              ElementsAre("/op/1/extra/deep/x", "/op/1/input/list/a-b.c:0", "/op/1/loose",
                          "/op/1/output/good"));
  EXPECT_EQ(record.entries[0].name, "extra/deep/x");
  EXPECT_EQ(record.entries[0].side, Side::other);
  EXPECT_EQ(record.entries[1].name, "list/a-b.c:0");
  EXPECT_EQ(record.entries[2].side, Side::other);
  EXPECT_THAT(reader.problems(),
              ElementsAre(message("/type", "a named datatype, which holds no data")));
}

TEST_F(HostileDump, AttributesOfGroupsHideNothing) {
  DumpFile reader = reader_of([](H5::Group& input, H5::H5File& file) {
    for (const H5::Group& group : {input, file.openGroup("/op"), file.openGroup("/op/1")}) {
      group.createAttribute("Type", H5::PredType::STD_I32LE, H5::DataSpace(H5S_SCALAR));
    }
  });
  expect_good_output(reader);
}

TEST_F(HostileDump, OnlyLinksInsideTheFileAreFollowed) {
  write_valid(path("other.h5"));
  DumpFile reader = reader_of([](H5::Group& input, H5::H5File& file) {
    H5Lcreate_external("other.h5", "/op/1/output/good", input.getId(), "a", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/op/1", file.getId(), "/op/2", H5P_DEFAULT, H5P_DEFAULT);
    input.link(H5L_TYPE_SOFT, "/op/1/input/c", "b");
    input.link(H5L_TYPE_SOFT, "/op/1/input/b", "c");
    input.link(H5L_TYPE_SOFT, "/op/1/output/good", "d");
    input.link(H5L_TYPE_SOFT, "/op/1/input/a", "through_a");
    input.link(H5L_TYPE_HARD, "/op/1/output/good", "e");
    file.link(H5L_TYPE_SOFT, "/op3", "/op3");
  });
  expect_good_output(reader);
  const std::string external = "an external link, which is not followed";
  const std::string nowhere = "a soft link that leads nowhere in this file";
  EXPECT_THAT(
      reader.problems(),
      ElementsAre(message("/op/1/input/a", external), message("/op/1/input/b", nowhere),
                  message("/op/1/input/c", nowhere), message("/op/1/input/through_a", nowhere),
                  message("/op/2", external), message("/op3", nowhere)));
  const auto inputs = inputs_of(reader.records()[0]);
  ASSERT_THAT(paths_of(inputs), ElementsAre("/op/1/input/d", "/op/1/input/e"));
  for (const DumpEntry& entry : inputs) EXPECT_THAT(read_as<float>(reader, entry), ElementsAre(1));
}

TEST_F(HostileDump, GroupsThatHoldThemselvesEnd) {
  DumpFile reader = reader_of([](H5::Group& input, H5::H5File& file) {
    file.link(H5L_TYPE_HARD, "/op", "/op/self");
    file.link(H5L_TYPE_HARD, "/", "/root");
    input.link(H5L_TYPE_HARD, "/op/1", "list");
  });
  EXPECT_THAT(reader.problems(),
              ElementsAre(message("/op/1/input/list", "a group that holds itself"),
                          message("/op/self", "a group that holds itself"),
                          message("/root", "a group that holds itself")));
  expect_good_output(reader);
}

// 2^30 paths lead to the innermost group.
TEST_F(HostileDump, GroupsLinkedManyTimesEnd) {
  DumpFile reader = reader_of([](H5::Group& input, H5::H5File&) {
    H5::Group group = input;
    for (int depth = 0; depth < 30; ++depth) {
      H5::Group next = group.createGroup("a");
      group.link(H5L_TYPE_HARD, "a", "b");
      group = next;
    }
  });
  expect_good_output(reader);
  EXPECT_THAT(reader.problems(),
              ::testing::Contains(HasSubstr(
                  "a group that is linked more than once, as are 10000 others before it")));
  EXPECT_LT(reader.problems().size(), 20'000u);
}

TEST_F(HostileDump, GroupsLinkedTwiceAreListedTwice) {
  DumpFile reader = reader_of([](H5::Group& input, H5::H5File& file) {
    input.createDataSet("x", H5::PredType::IEEE_F32LE, H5::DataSpace(H5S_SCALAR));
    file.link(H5L_TYPE_HARD, "/op/1", "/op/2");
    file.link(H5L_TYPE_SOFT, "/op", "/same");
  });
  std::vector<std::string> paths;
  for (const DumpRecord& record : reader.records()) {
    for (const DumpEntry& entry : record.entries) paths.push_back(entry.path);
  }
  EXPECT_THAT(paths, ElementsAre("/op/1/input/x", "/op/1/output/good", "/op/2/input/x",
                                 "/op/2/output/good", "/same/1/input/x", "/same/1/output/good",
                                 "/same/2/input/x", "/same/2/output/good"));
  EXPECT_TRUE(reader.problems().empty());
}

TEST_F(HostileDump, NamesDoNotSteerTheTerminal) {
  DumpFile reader = reader_of([](H5::Group& input, H5::H5File&) {
    H5::IntType(H5::PredType::NATIVE_INT).commit(input, "a\x1b[31m");
  });
  EXPECT_THAT(reader.problems(), ElementsAre(message("/op/1/input/a\\x1b[31m",
                                                     "a named datatype, which holds no data")));
}

}  // namespace
}  // namespace opbench::dump_tests
