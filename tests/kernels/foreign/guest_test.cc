#include "kernels/foreign/guest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kSeconds = 10;

// Answers the first request with `description`, `close` with {}, and any other with `answer`.
Guest guest_of(const std::string& description, const std::string& answer = "{}",
               double seconds = kSeconds) {
  return Guest({"sh", "-c",
                fmt::format("while read -r line; do case $line in *describe*) echo '{}';; *close*) "
                            "echo '{{}}';; *) {};; esac; done",
                            description, answer)},
               "libmine.so", seconds);
}

std::string description(const std::string& members = "") {
  return R"({"protocol":[1,7],"device":"cpu","unknown":0)" + members + "}";
}

std::string kernels(const std::string& kernel) {
  return description(R"(,"kernels":[)" + kernel + "]");
}

auto refuses(const std::string& text) {
  return ThrowsMessage<Error>(AllOf(HasSubstr("libmine.so"), HasSubstr(text)));
}

}  // namespace

TEST(Guest, DescribesItself) {
  const Guest guest = guest_of(description(
      R"(,"device_type":2,"has_own_memory":true,"kernels":[{"op":"relu","name":"a.b","dtypes":["fp16"],"formats":["NC1HWC0"]}])"));
  const GuestDescription& found = guest.description();
  EXPECT_EQ(found.device_type, 2);
  EXPECT_TRUE(found.has_own_memory);
  ASSERT_EQ(found.kernels.size(), 1);
  EXPECT_EQ(found.kernels[0].name, "a.b");
  EXPECT_EQ(found.kernels[0].dtypes, std::vector{DType::fp16});
  EXPECT_EQ(found.kernels[0].formats, std::vector{Format::NC1HWC0});
  EXPECT_GT(guest.overhead_seconds(), 0);
}

TEST(Guest, WrongDescriptionsAreRefused) {
  EXPECT_THAT([] { guest_of(R"({"protocol":[2,0]})"); }, refuses("speaks protocol 2.0"));
  EXPECT_THAT([] { guest_of("{}"); }, refuses("protocol"));
  EXPECT_THAT([] { guest_of("hello"); }, refuses("its answer is not a JSON object: 'hello'"));
  EXPECT_THAT([] { guest_of(R"({"error":"no license"})"); }, refuses("no license"));
  EXPECT_THAT([] { guest_of(kernels(R"({"op":"relu","name":"a b"})")); },
              refuses("kernels[0].name 'a b' is not a name"));
  EXPECT_THAT([] { guest_of(kernels(R"({"op":"relu","name":"a","dtypes":["fp7"]})")); },
              refuses("kernels[0].dtypes[0]"));
}

TEST(Guest, AnswersAreObjectsWithoutError) {
  Guest wrong = guest_of(description(), "echo [1]");
  EXPECT_THAT([&] { wrong.ask({{"do", "open"}}); }, refuses("not a JSON object: '[1]'"));
  EXPECT_THAT([&] { wrong.ask({{"do", "open"}}); }, refuses("its process is gone"));
  Guest error = guest_of(description(), R"(echo '{"error":"out of memory"}')");
  EXPECT_THAT([&] { error.ask({{"do", "open"}}); }, refuses("out of memory"));
}

TEST(Guest, IsStartedAgainAfterItsEnd) {
  Guest guest = guest_of(description(), "kill -SEGV $$");
  EXPECT_THAT([&] { guest.ask({{"do", "open"}}); }, refuses("signal 11"));
  guest.ensure_started();
  EXPECT_EQ(guest.starts(), 2);
  EXPECT_EQ(guest.ask({{"do", "close"}}), nlohmann::ordered_json::object());
}

TEST(Guest, IsEndedIfItDoesNotAnswer) {
  Guest guest = guest_of(description(), "sleep 60", 1);
  EXPECT_THAT([&] { guest.ask({{"do", "call"}}); }, refuses("gave no answer within 1 s"));
}

TEST(Guest, SecondsAreFiniteNumbers) {
  const nlohmann::ordered_json answer = {{"good", 0.5}, {"less", -1}, {"text", "inf"}};
  EXPECT_EQ(seconds_member(answer, "good"), 0.5);
  for (const char* key : {"less", "text", "missing"}) EXPECT_FALSE(seconds_member(answer, key));
}

}  // namespace opbench
