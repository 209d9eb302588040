#include "compare/differing_numbers.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cli/cli.h"
#include "dump/dump_writer.h"
#include "tests/support/program.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DifferingNumbers : public testing::Test, protected TempDir {
 protected:
  // Writes a record of y = x + alpha * x, with the other numbers.
  void write(const std::string& name, const std::string& op, double alpha, double eps,
             std::vector<std::int64_t> stride, bool is_transposed) const {
    std::vector<float> x(20), y(20);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i) - 3;
      y[i] = static_cast<float>(1 + alpha) * x[i];
    }
    const TensorDesc desc = describe(DType::fp32, {20});
    DumpWriter writer(path(name));
    writer.begin_record(op, DeviceType::npu);
    writer.write_input("self", desc, x.data());
    writer.write_input("other", desc, x.data());
    writer.write_input_scalar("alpha", alpha);
    writer.write_input_scalar("eps", eps);
    writer.write_input_scalar("transposed", is_transposed);
    writer.write_input_list("stride", stride);
    writer.write_output("result", desc, y.data());
    writer.finish();
  }

  std::string compared() const {
    return opbench_with({"compare", "-q", path("npu.h5"), path("gpu.h5")}).out;
  }
};

// Each result is correct for its own alpha.
TEST_F(DifferingNumbers, AreToldWhereBothAreRight) {
  write("npu.h5", "add_Tensor", 2, 1e-5, {1, 1}, true);
  write("gpu.h5", "add_Tensor", 1, 1e-5F, {2, 1}, false);
  EXPECT_THAT(
      compared(),
      AllOf(HasSubstr("inherited: both are right for their own inputs: alpha is 2, expected 1"),
            HasSubstr("stride is [1,1], expected [2,1]"), HasSubstr("transposed is 1, expected 0"),
            Not(HasSubstr("eps"))));
}

TEST_F(DifferingNumbers, AreToldOfWhatIsNotRecomputed) {
  write("npu.h5", "my_add", 2, 1e-5, {1}, true);
  write("gpu.h5", "my_add", 1, 1e-5, {1}, true);
  EXPECT_THAT(compared(), HasSubstr("agree, but alpha is 2, expected 1\n"));
}

TEST_F(DifferingNumbers, EqualOnesAreNotMentioned) {
  write("npu.h5", "add_Tensor", 2, 1e-5, {1, 1}, true);
  write("gpu.h5", "add_Tensor", 2, 1e-5, {1, 1}, true);
  EXPECT_THAT(compared(), AllOf(HasSubstr("PASSED"), Not(HasSubstr("alpha"))));
}

}  // namespace
}  // namespace opbench
