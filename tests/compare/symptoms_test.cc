#include "compare/symptoms.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/cli.h"
#include "dump/dump_writer.h"
#include "tests/support/program.h"

namespace opbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Symptoms : public testing::Test, protected TempDir {
 protected:
  // Writes one record of `op`. Its output is `factor` times its input.
  void write(const std::string& name, const std::string& op, float factor) const {
    std::vector<float> x(40), y(40);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = 1 + static_cast<float>(i);
      y[i] = factor * x[i];
    }
    const TensorDesc desc = describe(DType::fp32, {5, 8});
    DumpWriter writer(path(name));
    writer.begin_record(op, DeviceType::npu);
    writer.write_input("self", desc, x.data());
    writer.write_output("result", desc, y.data());
    writer.finish();
  }

  json output() const {
    opbench_with({"compare", "-q", path("npu.h5"), path("gpu.h5"), "-o", path("out")});
    std::ifstream file(path("out/compare.json"));
    return json::parse(file).at("tensors").at(1);
  }
};

// The operator is unknown, so its output is compared with that of the other dump.
TEST_F(Symptoms, OfWhatIsNotRecomputed) {
  write("npu.h5", "my_op", 2);
  write("gpu.h5", "my_op", 1);
  const json tensor = output();
  EXPECT_EQ(tensor.at("causes").at(0).at("rule"), "scale");
  EXPECT_THAT(tensor.at("causes").at(0).at("text"), HasSubstr("2 times"));
  EXPECT_EQ(tensor.at("error_map").at("errors")[0][0], 1);
}

// relu(x) is x here. The first dump has twice x, the second has half of x. Compared with the second
// dump, the factor would be 4.
TEST_F(Symptoms, OfWhatIsRecomputedAreAgainstThat) {
  write("npu.h5", "relu", 2);
  write("gpu.h5", "relu", 0.5F);
  const json tensor = output();
  EXPECT_THAT(tensor.at("causes").at(0).at("text"), HasSubstr("2 times"));
  EXPECT_EQ(tensor.at("error_map").at("errors")[0][0], 1);
}

}  // namespace
}  // namespace opbench
