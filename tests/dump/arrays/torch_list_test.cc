// tests/data/arrays/torch*.pt are files of PyTorch 1.13. Values of `a` are 0, 1/8, 2/8, .. in C
// order.
#include <gmock/gmock.h>

#include <cstring>

#include "dump/arrays/array_file.h"
#include "tensor/error.h"
#include "tensor/half.h"
#include "tests/dump/arrays/array_values.h"
#include "tests/support/refusal.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::vector<double> doubles(ArrayFile& file, std::string_view name) {
  EXPECT_EQ(entry_of(file, name).problem, "");
  std::vector<double> numbers;
  for (const T value : values<T>(file, name)) numbers.push_back(static_cast<double>(value));
  return numbers;
}

class TorchFile : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(BothLayouts, TorchFile,
                         testing::Values("arrays/torch.pt", "arrays/torch_legacy.pt"));

TEST_P(TorchFile, TensorsByTheirPlaces) {
  ArrayFile file(test_data(GetParam()));
  std::vector<double> eighths, transposed;
  for (int i = 0; i < 24; ++i) eighths.push_back(i / 8.0);
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 6; ++i) transposed.push_back((i * 4 + k) / 8.0);
  }
  EXPECT_EQ(entry_of(file, "a").desc, describe(DType::fp32, {2, 3, 4}));
  EXPECT_EQ(doubles<float>(file, "a"), eighths);
  EXPECT_EQ(doubles<half>(file, "half"), eighths);
  EXPECT_EQ(doubles<bfloat16>(file, "bf16"), eighths);
  EXPECT_EQ(entry_of(file, "bf16").desc.dtype, DType::bf16);
  EXPECT_EQ(entry_of(file, "transposed").desc.shape, (Dims{4, 2, 3}));
  EXPECT_EQ(doubles<float>(file, "transposed"), transposed);
  EXPECT_EQ(doubles<float>(file, "slice"),
            std::vector<double>(eighths.begin() + 16, eighths.end()));
  EXPECT_THAT(doubles<float>(file, "model/weight"), ElementsAre(1, 2));
  EXPECT_THAT(doubles<float>(file, "model/bias"), ElementsAre(3));
  EXPECT_THAT(doubles<float>(file, "parameter"), ElementsAre(1.5));
  EXPECT_THAT(doubles<std::int64_t>(file, "list/0"), ElementsAre(7));
  EXPECT_THAT(doubles<std::uint8_t>(file, "list/1"), ElementsAre(1, 0));
  EXPECT_THAT(doubles<float>(file, "expanded"), ElementsAre(5, 5, 5, 5, 5, 5));
  EXPECT_EQ(entry_of(file, "empty").desc.shape, (Dims{0, 3}));
  EXPECT_EQ(entry_of(file, "complex").stored, StoredType::c64);
  EXPECT_THAT(file.problems(), ElementsAre(HasSubstr("not tensors are left out, first ")));
}

// Changes every byte, and cuts at every length: the result must be an Error or values.
TEST_P(TorchFile, DamagedFilesAreErrors) {
  const TempDir directory;
  const std::string whole = text_of(test_data(GetParam()));
  const auto try_reading = [&](const std::string& bytes) {
    refusal_by([&] {
      ArrayFile file(directory.write("x.pt", bytes));
      std::vector<double> room(64);
      for (const DumpEntry& entry : file.entries()) {
        if (!entry.problem.empty() || entry.desc.elements() > 32) continue;
        file.read(entry, {0, entry.desc.elements()}, room.data());
      }
    });
  };
  for (std::size_t place = 0; place < whole.size(); place += 5) {
    std::string bytes = whole;
    bytes[place] = static_cast<char>(bytes[place] ^ 0x15);
    try_reading(bytes);
  }
  for (std::size_t size = 1; size < whole.size(); size += 11) try_reading(whole.substr(0, size));
}

class Pickles : public testing::Test, protected TempDir {
 protected:
  std::string refusal(const std::string& bytes) const {
    return bad_input_by([&] { ArrayFile file(write("x.pt", bytes)); });
  }
};

TEST_F(Pickles, CodeIsNeverRun) {
  // Pickle of an object whose __reduce__ is (os.system, ("touch /tmp/x",)).
  EXPECT_THAT(
      refusal(std::string("\x80\x02"
                          "cposix\nsystem\nq\x00X\x0c\x00\x00\x00touch /tmp/x\x85R.",
                          38)),
      HasSubstr("x.pt: pickle, byte 16: 'posix.system' is not one of the names that tensors "
                "need; no code is run"));
  EXPECT_THAT(refusal("\x80\x04\x8c\x08"
                      "builtins"
                      "\x8c\x04"
                      "eval"
                      "\x93."),
              HasSubstr("'builtins.eval' is not one of the names"));
  EXPECT_THAT(refusal("\x80\x02"
                      "iposix\nsystem\n."),
              HasSubstr("pickle, byte 3: operation 0x69 is not one that tensors need"));
  EXPECT_THAT(refusal("\x80\x02"
                      "ctorch\nload\n."),
              HasSubstr("'torch.load' is not one of the names that tensors need"));
  EXPECT_THAT(refusal("\x80\x02"
                      "ccollections\nOrderedDict\n\x81."),
              HasSubstr("operation 0x81"));
}

TEST_F(Pickles, DamageIsNamed) {
  EXPECT_THAT(refusal("\x80\x02K\x01."), HasSubstr("its magic number is missing"));
  EXPECT_THAT(refusal("\x80\x02X\xff\xff\xff\xff"), HasSubstr("length: found 4294967295"));
  EXPECT_THAT(refusal("\x80\x02)R."), HasSubstr("the stack is empty"));
  EXPECT_THAT(refusal("\x80\x02(R."), HasSubstr("a mark where a value is needed"));
  EXPECT_THAT(refusal("\x80\x02K\x01)R."), HasSubstr("a call of an object that is not a function"));
  EXPECT_THAT(refusal("\x80\x02h\x07."), HasSubstr("unknown value number 7"));
  EXPECT_THAT(refusal("\x80\x02t."), HasSubstr("a mark is missing"));
  EXPECT_THAT(refusal("\x80\x02NNa."), HasSubstr("items for an object that is not a list or dict"));
}

// Replaces the saved object by another object.
TEST_F(Pickles, ObjectsThatHoldThemselvesOrRepeatWithoutEndAreRefused) {
  const std::string whole = text_of(test_data("arrays/torch_legacy.pt"));
  const std::size_t model =
      whole.find("model");  // the first key: "}q\0(X" and its length precede it
  ASSERT_NE(model, whole.npos);
  const std::string head = whole.substr(0, model - 9);
  const std::string keys = "\x80\x02]q\x01.";
  EXPECT_THAT(refusal(head +
                      std::string("]q\x00h\x00"
                                  "a.",
                                  7) +
                      keys),
              HasSubstr("more than 64 levels"));
  std::string doubled = std::string("]q\x00", 3);  // 30 lists, each with the previous list twice
  for (char i = 0; i < 30; ++i) {
    doubled += std::string("](h") + i + "h" + i + "eq" + static_cast<char>(i + 1);
  }
  EXPECT_THAT(refusal(head + doubled + "." + keys), HasSubstr("it is too large"));
  std::string tensors =
      "ctorch._utils\n_rebuild_tensor\n(NNNNtR";  // 20 pairs, each of the previous pair twice
  for (char i = 1; i < 21; ++i) tensors += std::string("q") + i + "h" + i + "\x86";
  EXPECT_THAT(refusal(head + tensors + "." + keys), HasSubstr("more than 500000 tensors"));
}

}  // namespace
}  // namespace opbench
