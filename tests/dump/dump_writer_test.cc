#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "tests/dump/dump_support.h"
#include "tests/support/file_size_limit.h"

namespace opbench::dump_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DumpWriting : public DumpTest {
 protected:
  static void write_something(DumpWriter& writer) {
    const float values[] = {1, 2, 3};
    writer.begin_record("op", DeviceType::npu);
    writer.write_output("y", describe(DType::fp32, {3}), values);
  }

  void write_text(const std::string& text) { std::ofstream(path()) << text; }
  std::string text() {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string failure_of(const fs::path& target) {
    return error_of<RunError>([&] { DumpWriter writer(target); });
  }
};

TEST_F(DumpWriting, TheFileAppearsWhenFinished) {
  {
    DumpWriter writer(path());
    write_something(writer);
    EXPECT_FALSE(fs::exists(path()));
    EXPECT_LE(files().size(), 1u) << "one with O_TMPFILE missing in the file system";
    writer.finish();
    EXPECT_THAT(files(), ElementsAre("x.h5"));
  }
  EXPECT_THAT(files(), ElementsAre("x.h5"));
  EXPECT_EQ(DumpFile(path()).records().size(), 1u);
}

TEST_F(DumpWriting, AnUnfinishedFileLeavesNothing) {
  {
    DumpWriter writer(path());
    write_something(writer);
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(DumpWriting, AnUnfinishedFileLeavesTheOldOne) {
  write_text("old");
  {
    DumpWriter writer(path());
    write_something(writer);
    EXPECT_EQ(text(), "old");
  }
  EXPECT_EQ(text(), "old");
  EXPECT_THAT(files(), ElementsAre("x.h5"));
}

TEST_F(DumpWriting, AFinishedFileReplacesTheOldOne) {
  write_text("old");
  DumpWriter writer(path());
  write_something(writer);
  writer.finish();
  EXPECT_EQ(DumpFile(path()).records().size(), 1u);
}

TEST_F(DumpWriting, ALinkStaysALink) {
  write_text("old");
  fs::create_symlink("x.h5", path("link.h5"));
  DumpWriter writer(path("link.h5"));
  write_something(writer);
  writer.finish();
  EXPECT_TRUE(fs::is_symlink(path("link.h5")));
  EXPECT_EQ(DumpFile(path()).records().size(), 1u);
}

TEST_F(DumpWriting, TwoWritersOfOnePathDoNotMix) {
  DumpWriter first(path());
  DumpWriter second(path());
  write_something(first);
  write_something(second);
  write_something(second);
  second.finish();
  EXPECT_EQ(DumpFile(path()).records().size(), 2u);
  first.finish();
  EXPECT_EQ(DumpFile(path()).records().size(), 1u);
}

// Runs `work` in a separate process, which must exit normally and print nothing. The process is
// started with exec: after a fork alone, the leak sanitizer would report memory of the parent's
// threads.
template <class Work>
void expect_quiet_success(Work&& work) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    work();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(DumpWriting, AFullDiskLeavesTheOldFile) {
  write_text("old");
  expect_quiet_success([&] {
    const TensorDesc desc = describe(DType::fp32, {1 << 20});
    const Tensor tensor(desc);
    std::optional<FileSizeLimit> limit;  // must outlive the writer
    DumpWriter writer(path());
    limit.emplace(1 << 20);
    writer.begin_record("op", DeviceType::npu);
    EXPECT_EQ(error_of<RunError>([&] { writer.write_output("y", desc, tensor.data()); }),
              "cannot write " + path().string() + ": /op/1/output/y: File too large");
    EXPECT_EQ(error_of<RunError>([&] { write_something(writer); }),
              "cannot write " + path().string() + ": File too large");
    EXPECT_EQ(error_of<RunError>([&] { writer.finish(); }),
              "cannot write " + path().string() + ": File too large");
  });
  EXPECT_EQ(text(), "old");
  EXPECT_THAT(files(), ElementsAre("x.h5"));
}

TEST_F(DumpWriting, AFullDiskIsNoticedWhereTheDataIs) {  // HDF5 buffers small datasets until closed
  expect_quiet_success([&] {
    DumpWriter writer(path());
    std::optional<FileSizeLimit> limit(100);
    EXPECT_EQ(error_of<RunError>([&] { write_something(writer); }),
              "cannot write " + path().string() + ": /op/1/output/y: File too large");
    limit.reset();
    EXPECT_EQ(error_of<RunError>([&] { write_something(writer); }),
              "cannot write " + path().string() + ": File too large");
    EXPECT_EQ(error_of<RunError>([&] { writer.finish(); }),
              "cannot write " + path().string() + ": File too large");
  });
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(DumpWriting, ADiskThatIsFullOnlyAtTheEndLeavesTheOldFile) {
  write_text("old");
  expect_quiet_success([&] {
    std::optional<FileSizeLimit> limit;  // must outlive the writer
    DumpWriter writer(path());
    write_something(writer);
    limit.emplace(100);
    EXPECT_EQ(error_of<RunError>([&] { writer.finish(); }),
              "cannot write " + path().string() + ": closing: File too large");
  });
  EXPECT_EQ(text(), "old");
  EXPECT_THAT(files(), ElementsAre("x.h5"));
}

TEST_F(DumpWriting, PathsThatCannotBeWritten) {
  const auto cannot = [&](const std::string& what, const std::string& why) {
    return "cannot write " + path(what).string() + ": " + why;
  };
  write_text("a file");
  fs::create_directory(path("directory.h5"));
  EXPECT_EQ(failure_of(path("missing/x.h5")), cannot("missing/x.h5", "No such file or directory"));
  EXPECT_EQ(failure_of(path("directory.h5")), cannot("directory.h5", "Is a directory"));
  EXPECT_EQ(failure_of(path("x.h5/x.h5")), cannot("x.h5/x.h5", "Not a directory"));
  EXPECT_EQ(failure_of(path("new/")), cannot("new/", "the path names no file"));
  EXPECT_EQ(failure_of("/dev/null"), "cannot write /dev/null: not a regular file");
  EXPECT_EQ(failure_of(""), "cannot write : the path names no file");
  const std::string long_name(300, 'x');
  EXPECT_EQ(failure_of(path(long_name)), cannot(long_name, "File name too long"));
}

TEST_F(DumpWriting, AReadOnlyDirectory) {
  fs::permissions(directory(), fs::perms::owner_read | fs::perms::owner_exec |
                                   fs::perms::others_read | fs::perms::others_exec);
  expect_quiet_success([&] {
    constexpr uid_t kNobody = 65534;  // root may write everywhere
    const bool is_root = geteuid() == 0;
    if (is_root) {
      ASSERT_EQ(seteuid(kNobody), 0);
    }
    EXPECT_EQ(failure_of(path()), "cannot write " + path().string() + ": Permission denied");
    if (is_root) {
      ASSERT_EQ(seteuid(0), 0);
      ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);  // lost with the change; the leak sanitizer needs it
    }
  });
  fs::permissions(directory(), fs::perms::owner_all);
}

TEST_F(DumpWriting, NamesAreChecked) {
  DumpWriter writer(path());
  for (const char* name : {"", ".", "..", "a/b", "/a", "a\n"}) {
    EXPECT_NE(error_of([&] { writer.begin_record(name, DeviceType::npu); }), "(no error)") << name;
  }
  writer.begin_record("op", DeviceType::npu);
  const float value = 1;
  const TensorDesc desc = describe(DType::fp32, {});
  for (const char* name : {"", ".", "..", "/a", "a/", "a//b", "a/../b", "a/b/c", "a\x1b[0m"}) {
    EXPECT_NE(error_of([&] { writer.write_input(name, desc, &value); }), "(no error)") << name;
  }
  EXPECT_EQ(error_of([&] { writer.write_input("a/../b", desc, &value); }),
            "'a/../b' cannot name a dumped operator or tensor: '..' is a component");
  EXPECT_EQ(error_of([&] { writer.write_input("a\x1b[0m", desc, &value); }),
            "'a\\x1b[0m' cannot name a dumped operator or tensor: it contains control characters");
  writer.write_input("a", desc, &value);
  EXPECT_EQ(error_of([&] { writer.write_input("a", desc, &value); }),
            "cannot write " + path().string() + ": /op/1/input/a is written already");
  EXPECT_NE(error_of([&] { writer.write_input("a/a_0", desc, &value); }), "(no error)");
  writer.write_input("list/list_0", desc, &value);
  EXPECT_NE(error_of([&] { writer.write_input("list", desc, &value); }), "(no error)");
  writer.write_output("a", desc, &value);
  writer.finish();  // the errors did not damage the file

  DumpFile reader(path());
  ASSERT_EQ(reader.records().size(), 1u);
  EXPECT_EQ(inputs_of(reader.records()[0]).size(), 2u);
  EXPECT_EQ(outputs_of(reader.records()[0]).size(), 1u);
}

TEST_F(DumpWriting, NotesAreChecked) {
  DumpWriter writer(path());
  const auto error = [&](const std::vector<Note>& notes) {
    return error_of([&] { writer.begin_record("op", DeviceType::npu, notes); });
  };
  const std::string name = "opbench_task";
  const std::string refused = "note 'opbench_task' cannot be dumped: ";
  EXPECT_EQ(error({{name, ""}, {name, ""}}), refused + "its name occurs twice");
  EXPECT_EQ(
      error({{"", "x"}}),
      "note '' cannot be dumped: its name is unknown; allowed are opbench_case "
      "opbench_variant opbench_kernel opbench_call opbench_status opbench_reason opbench_values "
      "opbench_task opbench_cause opbench_module opbench_source");
  EXPECT_EQ(error({{name, std::string(1, '\0')}}), refused + "it contains NUL");
  EXPECT_EQ(error({{name, std::string(60'000, 'x')}}),
            refused + "it has 60012 bytes, at most 60000 are allowed");
  const std::string longest(60'000 - name.size(), 'x');
  EXPECT_EQ(writer.begin_record("op", DeviceType::npu, {{name, longest}}), 1);
  writer.write_input_scalar("beta", 1.0);
  writer.finish();
  EXPECT_EQ(DumpFile(path()).records().at(0).notes, std::vector<Note>({{name, longest}}));
}

TEST_F(DumpWriting, TensorsThatCannotBeDumped) {
  DumpWriter writer(path());
  const float value = 1;
  EXPECT_NE(error_of([&] { writer.write_input("a", describe(DType::fp32, {}), &value); }),
            "(no error)");  // before any record
  writer.begin_record("op", DeviceType::npu);
  const auto error = [&](const TensorDesc& desc) {
    return error_of([&] { writer.write_output("y", desc, &value); });
  };
  TensorDesc grouped = describe(DType::fp32, {16, 1, 1, 1}, Format::FRACTAL_Z);
  grouped.groups = 3;
  EXPECT_NE(error(grouped), "(no error)");
  writer.write_output("y", describe(DType::fp32, Dims(kLargestRank, 1)), &value);
  writer.finish();
  EXPECT_EQ(outputs_of(DumpFile(path()).records().at(0)).at(0).desc.shape, Dims(kLargestRank, 1));
}

TEST_F(DumpWriting, AFinishedFileTakesNoMore) {
  DumpWriter writer(path());
  write_something(writer);
  writer.finish();
  const float value = 1;
  EXPECT_NE(error_of([&] { writer.write_input("z", describe(DType::fp32, {}), &value); }),
            "(no error)");
  EXPECT_NE(error_of([&] { writer.begin_record("op", DeviceType::npu); }), "(no error)");
  EXPECT_NE(error_of([&] { writer.finish(); }), "(no error)");
  EXPECT_EQ(DumpFile(path()).records().size(), 1u);
}

}  // namespace
}  // namespace opbench::dump_tests
