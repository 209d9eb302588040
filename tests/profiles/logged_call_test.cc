// Tests `parse_call` with descriptors as plog writes them, whole and damaged.
#include <gmock/gmock.h>

#include "profiles/host_log.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string tensor(const std::string& place, const std::string& shape,
                   const std::string& constant = "isConst = 0 ") {
  return place + ": [TensorDesc] DataType = 1, Format = 0, StorageFormat = 3, Shape = " + shape +
         ", StorageShape = [1, 1, 4, 4, 16], shapeRange = [[1, 2], [3, 4]], memtype = 0, " +
         constant;
}

const std::string kInput = tensor("InputDesc[0]", "[1, 16, 4, 4]");
const std::string kOutput = tensor("OutputDesc[0]", "[1, 16, 4, 4]");

LoggedCall parse(const std::string& text) { return parse_call("Relu", text, false); }

/// The parsed constant of an input of 3 elements.
std::vector<double> values_of(const std::string& shape, const std::string& data) {
  const LoggedCall call =
      parse(tensor("InputDesc[0]", shape, "isConst = true, Const Len = 3 , Const data = " + data) +
            kOutput);
  EXPECT_THAT(call.inputs, SizeIs(1));
  EXPECT_THAT(call.outputs, SizeIs(1));
  return call.inputs.at(0).values;
}

TEST(LoggedCall, HasTheNumbersOfItsTensors) {
  const LoggedCall call = parse(kInput + kOutput + "Attr: {axis = 1} ");
  EXPECT_EQ(call.op, "Relu");
  ASSERT_THAT(call.inputs, SizeIs(1));
  ASSERT_THAT(call.outputs, SizeIs(1));
  const LoggedTensor& x = call.inputs[0];
  EXPECT_EQ(x.dtype, 1);
  EXPECT_EQ(x.format, 0);
  EXPECT_EQ(x.storage_format, 3);
  EXPECT_EQ(x.memory, 0);
  EXPECT_FALSE(x.is_const);
  EXPECT_THAT(x.shape, ElementsAre(1, 16, 4, 4));
  EXPECT_THAT(x.storage_shape, ElementsAre(1, 1, 4, 4, 16));
  EXPECT_EQ(call.attrs, "{axis = 1}");
  EXPECT_FALSE(call.is_truncated);
}

TEST(LoggedCall, NeedsNoAttributes) {
  const LoggedCall call = parse(kInput + kOutput);
  EXPECT_FALSE(call.attrs);
  EXPECT_FALSE(call.is_truncated);
}

// Dynamic extents are -1 and -2. A scalar has no extents.
TEST(LoggedCall, ReadsDynamicShapesAndScalars) {
  const LoggedCall call = parse(tensor("InputDesc[0]", "[-1, -2]") + tensor("InputDesc[1]", "[]"));
  ASSERT_THAT(call.inputs, SizeIs(2));
  EXPECT_THAT(call.inputs[0].shape, ElementsAre(-1, -2));
  EXPECT_THAT(call.inputs[1].shape, IsEmpty());
}

// A constant needs exactly one number for each element, because the log may cut it.
TEST(LoggedCall, ConstantsHaveANumberForEachElement) {
  EXPECT_THAT(values_of("[3]", "0,-2,1.5, "), ElementsAre(0, -2, 1.5));
  EXPECT_THAT(values_of("[]", "7, "), ElementsAre(7));
  EXPECT_THAT(values_of("[3]", "0,2, "), IsEmpty());
  EXPECT_THAT(values_of("[3]", "0,2,1,4, "), IsEmpty());
  EXPECT_THAT(values_of("[3]", "0,x,1, "), IsEmpty());
  EXPECT_THAT(values_of("[-1]", "3, "), IsEmpty());
}

// Axes and sizes have at most 64 elements. Longer constants are data.
TEST(LoggedCall, LongConstantsAreNotKept) {
  const auto numbers = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += std::to_string(i) + ",";
    return text;
  };
  EXPECT_THAT(values_of("[64]", numbers(64)), SizeIs(64));
  EXPECT_THAT(values_of("[65]", numbers(65)), IsEmpty());
  // 2^62 times 4 would overflow to 0 elements.
  EXPECT_THAT(values_of("[4611686018427387904, 4]", ""), IsEmpty());
}

TEST(LoggedCall, BehindADamageIsLeftOut) {
  const LoggedCall cut = parse(kInput + kOutput.substr(0, kOutput.size() / 2));
  EXPECT_THAT(cut.inputs, SizeIs(1));
  EXPECT_THAT(cut.outputs, IsEmpty());
  EXPECT_TRUE(cut.is_truncated);
  const LoggedCall open = parse(kInput + kOutput + "Attr: {axis = ");
  EXPECT_FALSE(open.attrs);
  EXPECT_TRUE(open.is_truncated);
  EXPECT_TRUE(parse(kInput + "rubbish").is_truncated);
  EXPECT_TRUE(parse(tensor("InputDesc[0]", "[1, 99999999999999999999]") + kOutput).is_truncated);
}

// The summary drops the last character, which closes the attributes.
TEST(LoggedCall, ASummaryHasItsLastCharacterBack) {
  const LoggedCall call = parse_call("Relu", kInput + kOutput + "Attr: {axis = 1", true);
  EXPECT_EQ(call.attrs, "{axis = 1}");
  EXPECT_TRUE(call.descriptor.ends_with("{axis = 1}"));
  EXPECT_FALSE(call.is_truncated);
  const LoggedCall whole = parse_call("Relu", kInput + kOutput + "Attr: {axis = 1}", true);
  EXPECT_EQ(whole.attrs, "{axis = 1}");
}

}  // namespace
}  // namespace opbench
