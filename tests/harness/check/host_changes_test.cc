#include <gmock/gmock.h>

#include <sstream>

#include "harness/check/profile_watch.h"
#include "tests/profiles/profiles.h"

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A call of 10 us as torch.autograd.profiler writes it, with its kernel if there is a device.
std::string call(const std::string& name, int start, const std::string& device, double kernel_us) {
  const std::string begin = "{\"name\": \"" + name + "\", \"ts\": ";
  const std::string id = ", \"id\": " + std::to_string(start) + ", \"cat\": \"cpu_to_" + device;
  const std::string at = std::to_string(start), later = std::to_string(start + 1000);
  const std::string host = ", \"tid\": 1, \"pid\": \"CPU functions\"";
  std::string text = begin + at + ", \"ph\": \"X\", \"dur\": 10" + host + "}";
  if (device.empty()) return text;
  const std::string on_device = ", \"tid\": 0, \"pid\": \"" +
                                (device == "npu" ? std::string("NPU") : "CUDA") + " functions\"";
  text += "," + begin + at + ", \"ph\": \"s\"" + host + id + "\"}";
  text += "," + begin + later + ", \"ph\": \"f\"" + on_device + id + "\"}";
  return text + "," + begin + later + ", \"ph\": \"X\", \"dur\": " + std::to_string(kernel_us) +
         on_device + "}";
}

TraceProfile profile_of(const std::vector<std::string>& calls) {
  std::string text;
  for (const std::string& one : calls) text += (text.empty() ? "[" : ",") + one;
  return ingest_text(text + "]").trace;
}

std::vector<std::string> names_of(const HostComparison& comparison) {
  std::vector<std::string> names;
  for (const HostChange& one : comparison.changes) names.push_back(one.name);
  return names;
}

// One script on a GPU and on an NPU: the operator table has both convolutions in one row.
TEST(HostChanges, JoinOperatorsOfOneScriptOnTwoDevices) {
  const HostComparison found = compare_hosts(
      profile_of({call("aten::relu", 0, "cuda", 4), call("aten::cudnn_convolution", 50, "cuda", 20),
                  call("aten::only_here", 100, "cuda", 1)}),
      profile_of({call("aten::relu", 0, "npu", 10), call("aten::relu", 50, "npu", 6),
                  call("npu_convolution", 100, "npu", 30)}));
  EXPECT_TRUE(found.is_device_before && found.is_device_after);
  ASSERT_THAT(names_of(found), ElementsAre("npu_convolution", "aten::relu", "aten::only_here"));
  EXPECT_EQ(found.changes[0].name_before, "aten::cudnn_convolution");
  EXPECT_EQ(found.changes[0].before_us, 20);
  EXPECT_EQ(found.changes[0].after_us, 30);
  EXPECT_EQ(found.changes[1].calls_before, 1);
  EXPECT_EQ(found.changes[1].calls_after, 2);
  EXPECT_EQ(found.changes[1].after_us, 16);
  EXPECT_EQ(found.changes[2].calls_after, 0);
}

TEST(HostChanges, OfACpuAreTimesOfTheHost) {
  const HostComparison found = compare_hosts(profile_of({call("aten::relu", 0, "", 0)}),
                                             profile_of({call("aten::relu", 0, "npu", 3)}));
  EXPECT_FALSE(found.is_device_before);
  ASSERT_THAT(names_of(found), ElementsAre("aten::relu"));
  EXPECT_EQ(found.changes[0].before_us, 10);
  EXPECT_EQ(found.changes[0].after_us, 3);
  EXPECT_THAT(compare_hosts({}, profile_of({call("aten::relu", 0, "npu", 3)})).changes, IsEmpty());
}

TEST(HostChanges, ArePrintedWithBothNames) {
  std::ostringstream out;
  const auto profile = [](const std::string& device) {
    return ingest_samples({"traces/torch_autograd_" + device + "_SYNTHETIC.prof"});
  };
  print_profile_comparison(out, compare_profiles(profile("cuda"), profile("npu"), {}), {});
  EXPECT_THAT(out.str(),
              testing::AllOf(HasSubstr("  7 with fewer than three times: no verdict\n"),
                             HasSubstr("      450.000       720.000    1.60x        1 -> 1  "
                                       "NpuConvolutionBackward\n" +
                                       std::string(53, ' ') + "was CudnnConvol"),
                             HasSubstr("   1 -> 1  aten::relu\n")));
}

}  // namespace
}  // namespace opbench::check
