// Code digests of objects: of invented objects, and of the objects of these tests.
#include "harness/check/own_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tensor/error.h"
#include "tensor/processor.h"

namespace opbench::check {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Two kernels that share a part, whose parts refer to each other, and a separate one.
constexpr std::string_view kObjects = R"(
a.cc 01 shared.cc
alone.cc 02
b.cc 03 shared.cc
part.cc 04 shared.cc
shared.cc 05 part.cc
)";

std::string digest(std::string_view objects, std::vector<std::string_view> sources) {
  return digest_of_objects({"program", objects}, std::move(sources));
}

std::string changed(std::string_view from, std::string_view to) {
  std::string objects(kObjects);
  objects.replace(objects.find(from), from.size(), to);
  return objects;
}

}  // namespace

TEST(OwnCode, IsWhatAnObjectRefersToDirectlyOrByOthers) {
  const std::string part = changed("04", "14"), alone = changed("02", "12"),
                    b = changed("03", "13");
  EXPECT_NE(digest(part, {"a.cc"}), digest(kObjects, {"a.cc"}));
  EXPECT_NE(digest(part, {"part.cc"}), digest(kObjects, {"part.cc"}));
  EXPECT_EQ(digest(part, {"alone.cc"}), digest(kObjects, {"alone.cc"}));
  EXPECT_EQ(digest(alone, {"a.cc"}), digest(kObjects, {"a.cc"}));
  EXPECT_EQ(digest(b, {"a.cc"}), digest(kObjects, {"a.cc"}));
  EXPECT_NE(digest(b, {"a.cc", "b.cc"}), digest(kObjects, {"a.cc", "b.cc"}));
}

TEST(OwnCode, HasNoOrder) {
  const std::string turned =
      "shared.cc 05 part.cc\npart.cc 04 shared.cc\nb.cc 03 shared.cc\na.cc 01 shared.cc\nmore.cc "
      "9\n";
  EXPECT_EQ(digest(turned, {"a.cc", "b.cc"}), digest(kObjects, {"b.cc", "a.cc"}));
  EXPECT_EQ(digest(kObjects, {"a.cc", "shared.cc"}), digest(kObjects, {"a.cc"}))
      << "it is referred to from there";
  EXPECT_NE(digest(kObjects, {"a.cc"}), digest(kObjects, {"b.cc"}));
}

TEST(OwnCode, SaysWhyItIsNotKnown) {
  EXPECT_THAT([] { digest(kObjects, {"c.cc"}); },
              ThrowsMessage<Error>("it was linked without a digest of the object of c.cc"));
  EXPECT_THAT(
      [] {
        digest_of_objects({"program", {}, "nm is missing"}, {"a.cc"});
      },
      ThrowsMessage<Error>("nm is missing"));
  const Kernel reference{};
  EXPECT_THAT([&] { own_code(std::vector<const Kernel*>{&reference}); },
              ThrowsMessage<Error>("the code of a reference is unknown"));
}

TEST(OwnCode, EveryKernelHasOneOfItsOwn) {
  std::map<std::string, std::string> kernel_of;
  for (const Kernel* kernel : RegisteredKernel::all()) {
    if (kernel->source.starts_with("tests/")) continue;  // tests have no digest
    EXPECT_NE(kernel->source, "kernels/formula.cc") << "registers for others";
    const std::string code = own_code(std::vector{kernel});
    EXPECT_EQ(own_code(std::vector{kernel}), code);
    const auto [other, is_new] = kernel_of.emplace(code, kernel->key());
    EXPECT_TRUE(is_new) << other->second << " and " << kernel->key();
    EXPECT_THAT(std::string(kernel->source), testing::StartsWith("kernels/"));
  }
}

TEST(OwnCode, IsThatOfTheInstructionSetInUse) {
  const std::vector<const Kernel*> kernels = {kernels_of("relu").front()};
  const std::string best = own_code(kernels);
  const std::vector<std::string> isas = supported_isas();
  if (isas.size() < 2) GTEST_SKIP() << "one instruction set";
  select_isa(isas.back());
  EXPECT_NE(own_code(kernels), best);
  select_isa(isas.front());
  EXPECT_EQ(own_code(kernels), best);
}

}  // namespace opbench::check
