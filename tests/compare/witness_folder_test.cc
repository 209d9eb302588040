#include "compare/witness_folder.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class NewFolderTest : public testing::Test, protected TempDir {
 protected:
  static void add(const NewFolder& folder, const std::string& name) {
    std::ofstream(folder.file(name)) << "text";
  }
};

}  // namespace

TEST_F(NewFolderTest, AppearsWithAllItsFiles) {
  {
    NewFolder folder(path("out"));
    add(folder, "a");
    EXPECT_FALSE(std::filesystem::exists(path("out")));
    add(folder, "b");
    folder.commit();
  }
  EXPECT_THAT(files(), ElementsAre("out")) << "the hidden one is gone";
  EXPECT_EQ(read("out/a"), "text");
  EXPECT_EQ(read("out/b"), "text");
}

TEST_F(NewFolderTest, LeavesNothingWhereItIsNotCommitted) {
  {
    NewFolder folder(path("out"));
    add(folder, "a");
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(NewFolderTest, TakesThePlaceOfAnEmptyOneOnly) {
  std::filesystem::create_directory(path("empty"));
  {
    NewFolder folder(path("empty/"));
    add(folder, "a");
    folder.commit();
  }
  EXPECT_EQ(read("empty/a"), "text");
  EXPECT_THAT([&] { NewFolder folder(path("empty")); },
              ThrowsMessage<Error>(HasSubstr("is there already and is not empty")));
  write("file", "");
  EXPECT_THAT([&] { NewFolder folder(path("file")); },
              ThrowsMessage<Error>(HasSubstr("file is not a folder")));
  EXPECT_EQ(read("empty/a"), "text");
}

// Messages of writers contain the name that the user gave.
TEST_F(NewFolderTest, HidesItsHiddenNameInMessages) {
  const NewFolder folder(path("out"));
  const std::string message = "cannot write " + folder.file("call.h5").string();
  EXPECT_EQ(folder.with_real_name(message), "cannot write " + path("out/call.h5"));
}

}  // namespace opbench
