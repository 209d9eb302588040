#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(OneHot, MarksClasses) {
  for (const DType dtype : {DType::int64, DType::int32}) {
    const std::vector<Given> x = {{dtype, {2, 2}, {2, 0, 1, 2}}};
    const std::vector<double> expected = {0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    EXPECT_EQ(reference_of_tensors("one_hot", x, {{"num_classes", "3"}})[0], expected);
    EXPECT_EQ(kernel_on_tensors("one_hot", "native", x, {{"num_classes", "3"}})[0], expected);
  }
}

TEST(OneHot, NamesWhatItRefuses) {
  const auto refused = [](double x, const char* classes, const char* text) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors("one_hot", {{DType::int64, {1}, {x}}}, {{"num_classes", classes}});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused(3, "3", "one_hot: self[0] is 3; allowed: 0 to 2");
  refused(-1, "3", "one_hot: self[0] is -1");
  refused(0, "0", "it must be 1 or more");
}

}  // namespace opbench
