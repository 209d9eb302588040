#include "kernels/foreign/guest_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::ThrowsMessage;

std::string file_with(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

}  // namespace

TEST(GuestProgram, OfAPythonFile) {
  const std::string path = file_with("guest_program.py", "pass");
  const GuestProgram program = program_for_file(path);
  EXPECT_THAT(program.argv, Contains(path));
  EXPECT_THAT(program.argv, Contains(HasSubstr("glibc.malloc.hugetlb=1")));
  EXPECT_EQ(program.name, "guest_program.py");
  EXPECT_THAT(program.source, MatchesRegex(path + "#[0-9a-f]{16}"));
  EXPECT_FALSE(program.lists_functions);
  EXPECT_EQ(program_for_file(program.source).source, program.source);
}

TEST(GuestProgram, AChangedFileIsRefused) {
  const std::string source = program_for_file(file_with("changed.py", "1")).source;
  file_with("changed.py", "2");
  EXPECT_THAT([&] { program_for_file(source); },
              ThrowsMessage<Error>(HasSubstr("the file has changed")));
}

TEST(GuestProgram, OtherFilesAndDevicesAreRefused) {
  EXPECT_THAT([] { program_for_file("kernels.cu"); },
              ThrowsMessage<Error>(HasSubstr("a shared library (.so) or a Python file (.py)")));
  EXPECT_THAT([] { program_for_file("/missing/kernels.py"); },
              ThrowsMessage<Error>("--kernels /missing/kernels.py: No such file or directory"));
  EXPECT_THAT([] { program_for_device("cuda:0"); },
              ThrowsMessage<Error>(EndsWith("found 'cuda:0'")));
  EXPECT_THAT(program_for_device("torch:npu:1").argv, Contains("npu:1"));
}

TEST(GuestProgram, ImplementationModesAreThoseOfNpus) {
  const std::string device = with_impl_mode("torch:npu:1", "high_performance");
  EXPECT_EQ(device, "torch:npu:1:high_performance");
  EXPECT_THAT(program_for_device(device).argv,
              testing::IsSupersetOf({"npu:1", "--impl-mode", "high_performance"}));
  EXPECT_EQ(program_for_device(device).name, device);
  EXPECT_EQ(with_impl_mode("torch:npu", "high_precision"), "torch:npu:0:high_precision");
  EXPECT_THAT([] { with_impl_mode("torch:cuda:0", "high_precision"); },
              ThrowsMessage<Error>(HasSubstr("torch:cuda:0 has no implementation modes")));
  EXPECT_THAT([&] { with_impl_mode(device, "high_precision"); },
              ThrowsMessage<Error>(HasSubstr("states its mode")));
  EXPECT_THAT([] { program_for_device("torch:npu:0:fast"); },
              ThrowsMessage<Error>(HasSubstr("'fast' is unknown; high_precision or")));
}

TEST(GuestProgram, FunctionsOfALibraryHaveOperators) {
  const std::string path = file_with("libtvm.so", "");
  const GuestProgram program = program_for_file(path + ":fast=softplus,other=relu");
  EXPECT_THAT(program.argv, testing::IsSupersetOf(
                                {path, std::string("fast=softplus"), std::string("other=relu")}));
  EXPECT_TRUE(program_for_file(path).lists_functions);
}

}  // namespace opbench
