#include "ops/index.h"

#include <gmock/gmock.h>

#include "tensor/error.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CheckIndex, NamesTheValueAndItsPosition) {
  const IndexRule rule{"gather", "indices", 5, false};
  EXPECT_NO_THROW(check_index(rule, std::vector<std::int64_t>{0, 4, 2}));
  EXPECT_THAT(
      [&] {
        check_index(rule, std::vector<std::int64_t>{0, 4, 5});
      },
      ThrowsMessage<Error>(HasSubstr("gather: indices[2] is 5; allowed: 0 to 4")));
  EXPECT_THAT([&] { check_index(rule, std::vector<std::int64_t>{-1}); },
              ThrowsMessage<Error>(
                  HasSubstr("indices[0] is -1; allowed: 0 to 4 (negative indices are off)")));
}

TEST(CheckIndex, CountsNegativeOnesFromTheBackWhereAllowed) {
  const IndexRule rule{"gather", "indices", 5, true};
  EXPECT_NO_THROW(check_index(rule, std::vector<std::int64_t>{-5, 4}));
  EXPECT_THAT([&] { check_index(rule, std::vector<std::int64_t>{-6}); },
              ThrowsMessage<Error>(HasSubstr("indices[0] is -6; allowed: -5 to 4")));
}

TEST(CheckIndex, HasNoValidValueOnAnEmptyAxis) {
  EXPECT_THROW(check_index({"gather", "indices", 0, true}, std::vector<std::int64_t>{0}), Error);
}

TEST(ReadIndex, WidensInt32) {
  Tensor index(describe(DType::int32, {3}));
  index.as<std::int32_t>()[1] = -7;
  EXPECT_THAT(InputReader(index.desc, index.data()).read_index(), testing::ElementsAre(0, -7, 0));
  const Tensor floats(describe(DType::fp32, {3}));
  EXPECT_THROW(InputReader(floats.desc, floats.data()).read_index(), Error);
}

}  // namespace opbench
