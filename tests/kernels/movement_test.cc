// Checks every variant of the operators that move data bit for bit against the reference, over
// shapes and attributes that the conformance test does not cover. A new variant needs no entry
// here.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "tensor/fill.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

struct MovementUse {
  std::string op;
  std::vector<Dims> shapes;
  AttrTexts attrs = {};
  std::vector<std::vector<std::int64_t>> indices = {};  ///< of input 1, instead of default data

  std::string text() const {
    std::string result = op;
    for (const Dims& shape : shapes) result += ' ' + to_string(shape);
    for (const auto& [name, value] : attrs) result += ' ' + name + '=' + value;
    return result;
  }
};

const std::vector<MovementUse>& movement_uses() {
  static const std::vector<MovementUse> all = {
      {"concat", {{2, 3, 5, 7}}},
      {"concat", {{2, 3, 5, 7}, {2, 1, 5, 7}, {2, 0, 5, 7}, {2, 17, 5, 7}}},
      {"concat", {{0, 3}, {0, 5}}},
      {"concat", {{2, 16, 3, 3}, {2, 32, 3, 3}}},
      {"concat", {{2, 58, 7, 7}, {2, 58, 7, 7}}},
      {"concat", {{3, 16, 3, 3}, {4, 16, 3, 3}}, {{"axis", "0"}}},
      {"concat", {{1, 18, 3, 3}, {1, 18, 3, 4}}, {{"axis", "-1"}}},
      {"concat", {{1, 18, 2, 3}, {1, 18, 5, 3}}, {{"axis", "2"}}},
      {"concat", {{13}, {7}, {1}}, {{"axis", "0"}}},
      {"concat", {{3, 130}, {3, 67}}},
      {"concat", {{2, 3, 2, 2, 2}, {2, 5, 2, 2, 2}}},
      {"split", {{2, 7, 3, 5}}, {{"sizes", "[3,0,4]"}}},
      {"split", {{2, 48, 3, 5}}, {{"sizes", "[16,32]"}}},
      {"split", {{2, 116, 7, 7}}},
      {"split", {{2, 7, 3, 5}}, {{"chunks", "3"}}},
      {"split", {{2, 7, 3, 5}}, {{"chunks", "1"}}},
      {"split", {{5, 17, 3, 5}}, {{"axis", "0"}, {"chunks", "2"}}},
      {"split", {{2, 3, 3, 11}}, {{"axis", "-1"}, {"chunks", "4"}}},
      {"split", {{19}}, {{"axis", "0"}, {"sizes", "[1,18]"}}},
      {"split", {{3, 0}}, {{"chunks", "3"}}},
      {"transpose", {{}}},
      {"transpose", {{1}}},
      {"transpose", {{3, 5}}},
      {"transpose", {{65, 257}}},
      {"transpose", {{128, 64}}},
      {"transpose", {{2, 3, 5, 7}}, {{"perm", "[0,2,3,1]"}}},
      {"transpose", {{2, 7, 5, 3}}, {{"perm", "[0,3,1,2]"}}},
      {"transpose", {{3, 33, 70}}, {{"perm", "[0,2,1]"}}},
      {"transpose", {{5, 4, 31}}, {{"perm", "[1,0,2]"}}},
      {"transpose", {{5, 4, 31}}, {{"perm", "[0,1,2]"}}},
      {"transpose", {{5, 0, 3}}},
      {"transpose", {{2, 3, 4, 5, 6, 7}}, {{"perm", "[5,1,3,0,4,2]"}}},
      {"transpose", {{2, 1, 2, 1, 2, 3, 2, 2, 3}}},
      {"channel_shuffle", {{2, 6, 5, 7}}},
      {"channel_shuffle", {{2, 12, 3, 3}}, {{"groups", "3"}}},
      {"channel_shuffle", {{1, 7, 2, 2}}, {{"groups", "7"}}},
      {"channel_shuffle", {{1, 7, 2, 2}}, {{"groups", "1"}}},
      {"channel_shuffle", {{2, 116, 7, 7}}},
      {"channel_shuffle", {{3, 64}}, {{"groups", "4"}}},
      {"channel_shuffle", {{2, 0, 3, 3}}},
      {"cat_shuffle", {{2, 3, 5, 7}, {2, 3, 5, 7}}},
      {"cat_shuffle", {{2, 116, 14, 14}, {2, 116, 14, 14}}, {{"groups", "8"}}},
      {"cat_shuffle", {{3, 9}, {3, 9}}, {{"groups", "6"}}},
      {"cat_shuffle", {{1, 1, 1, 1}, {1, 1, 1, 1}}},
      {"cat_shuffle", {{2, 0, 3, 3}, {2, 0, 3, 3}}},
      {"cat_shuffle_split", {{2, 3, 5, 7}, {2, 3, 5, 7}}},
      {"cat_shuffle_split", {{2, 116, 14, 14}, {2, 116, 14, 14}}, {{"groups", "4"}}},
      {"cat_shuffle_split", {{3, 9}, {3, 9}}, {{"groups", "9"}}},
      {"cat_shuffle_split", {{2, 0, 3, 3}, {2, 0, 3, 3}}},
      {"cat_shuffle_split", {{2, 16, 4, 4}, {2, 16, 4, 4}}},
      {"cat_shuffle_grad", {{2, 6, 5, 7}}},
      {"cat_shuffle_grad", {{2, 232, 14, 14}}, {{"groups", "8"}}},
      {"cat_shuffle_grad", {{3, 18}}, {{"groups", "6"}}},
      {"cat_shuffle_grad", {{2, 0, 3, 3}}},
      {"cat_shuffle_split_grad", {{2, 3, 5, 7}, {2, 3, 5, 7}}},
      {"cat_shuffle_split_grad", {{2, 116, 14, 14}, {2, 116, 14, 14}}, {{"groups", "4"}}},
      {"cat_shuffle_split_grad", {{3, 9}, {3, 9}}, {{"groups", "3"}}},
      {"index_select", {{2, 6, 5, 7}, {6}}},
      {"index_select", {{2, 116, 7, 7}, {58}}},
      {"index_select", {{2, 7, 3}, {}}, {{"axis", "-1"}}},
      {"index_select", {{2, 7, 3}, {0}}},
      {"index_select", {{7, 130}, {20}}, {{"axis", "0"}}},
      {"index_select", {{1000}, {777}}, {{"axis", "0"}}},
      {"index_select", {{2, 1, 2, 3, 1, 2, 1, 3}, {5}}, {{"axis", "3"}}},
      {"gather", {{7, 5}, {3, 4}}},
      {"gather", {{100}, {2, 3, 5}}},
      {"gather", {{13, 128}, {64}}},
      {"gather", {{13, 8}, {}}},
      {"gather", {{13, 8}, {0, 4}}},
      {"gather", {{3, 2, 9, 5}, {3, 4}}, {{"axis", "2"}, {"batch_dims", "1"}}},
      {"gather", {{3, 2, 9}, {3, 2, 4}}, {{"axis", "-1"}, {"batch_dims", "2"}}},
      {"gather", {{5, 3}, {6}}, {{"negative_index", "true"}}, {{-5, -1, 0, 4, -2, 2}}},
      {"gather", {{5, 33}, {5}}, {{"out_of_range", "zero"}}, {{-1, 5, 0, 4, 1LL << 30}}},
      {"gather",
       {{5, 33}, {5}},
       {{"out_of_range", "zero"}, {"negative_index", "true"}},
       {{-1, 5, -6, -5, 4}}},
      {"gather", {{0, 3}, {2}}, {{"out_of_range", "zero"}}},
      {"stack", {{2, 3, 5, 7}, {2, 3, 5, 7}, {2, 3, 5, 7}}, {{"axis", "2"}}},
      {"stack", {{33, 65}, {33, 65}}, {{"axis", "-1"}}},
      {"stack", {{}, {}}},
      {"stack", {{0, 3}, {0, 3}}},
      {"unbind", {{2, 3, 5, 7}}, {{"axis", "2"}}},
      {"unbind", {{33, 17}}, {{"axis", "-1"}}},
      {"unbind", {{3, 0}}},
      {"flip", {{2, 3, 5, 7}}, {{"dims", "[1,3]"}}},
      {"flip", {{2, 3, 5, 7}}, {{"dims", "[0,2]"}}},
      {"flip", {{1000}}},
      {"flip", {{3, 0}}},
      {"flip", {{}}, {{"dims", "[]"}}},
      {"roll", {{2, 3, 5, 7}}, {{"shifts", "[1,-2,9]"}, {"dims", "[1,3,2]"}}},
      {"roll", {{130, 67}}, {{"shifts", "1000"}}},
      {"roll", {{3, 0}}},
      {"roll", {{}}},
      {"pad", {{2, 3, 5, 7}}, {{"pad", "[1,2,3,4]"}}},
      {"pad", {{2, 3, 5, 7}}, {{"pad", "[-1,2,3,-4,1,1]"}, {"value", "1"}}},
      {"pad", {{33, 65}}, {{"pad", "[0,3]"}}},
      {"pad", {{2, 0}}, {{"pad", "[1,2]"}, {"value", "1"}}},
      {"pad", {{2, 3}}, {{"pad", "[-3,0]"}}},
      {"embedding", {{13, 128}, {64}}},
      {"embedding", {{100, 3}, {2, 3, 5}}},
      {"embedding", {{13, 8}, {}}},
      {"embedding", {{13, 8}, {0, 4}}},
      {"contiguous", {{3, 5}}},
      {"contiguous", {{64, 65}}},
      {"contiguous", {{8, 58, 28, 28}}, {{"view", "slice(1,29,29)"}}},
      {"contiguous", {{4, 6, 10}}, {{"view", "transpose(1,2).slice(1,0,4,3).select(0,3)"}}},
      {"contiguous", {{58, 1, 28}}, {{"view", "broadcast(3,58,4,28)"}}},
      {"contiguous", {{58, 1}}, {{"view", "broadcast(58,33)"}}},
      {"contiguous", {{2, 3, 4}}, {{"view", "permute(2,0,1)"}}},
      {"contiguous", {{40}}, {{"view", "as_strided([4,5],[3,2],1)"}}},
      {"contiguous", {{40}}, {{"view", "as_strided([],[],39)"}}},
      {"contiguous", {{40}}, {{"view", "slice(0,1,13,3)"}}},
      {"contiguous", {{3, 0}}},
  };
  return all;
}

// Any bits are valid data, also NaN payloads and bool bytes other than 0 and 1.
Tensor random_bits(const TensorDesc& desc, std::uint64_t seed) {
  Tensor tensor(desc);
  const std::vector<std::uint8_t> bytes = noise(desc.bytes(), seed);
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

Tensor index_input(const MovementUse& use, const Problem& problem, std::size_t i) {
  Tensor tensor(problem.inputs[i]);
  if (use.indices.empty()) {
    fill(tensor, default_data(problem, i), 7);
  } else {
    const std::vector<double> values(use.indices[0].begin(), use.indices[0].end());
    from_doubles(tensor.desc.dtype, values.data(), std::ssize(values), tensor.data());
  }
  return tensor;
}

std::vector<Tensor> inputs_of(const MovementUse& use, const Problem& problem) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    inputs.push_back(problem.op->input(i).has_own_dtype() ? index_input(use, problem, i)
                                                          : random_bits(problem.inputs[i], i + 1));
  }
  return inputs;
}

using Bits = std::vector<std::byte>;

/// The expected bits of every output.
std::vector<Bits> expected_bits(const Problem& problem, const std::vector<Tensor>& inputs) {
  std::vector<InputReader> readers;
  for (const Tensor& input : inputs) readers.emplace_back(input.desc, input.data());
  const auto reference = problem.op->exact_reference(readers, problem.attrs);
  std::vector<Bits> expected;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const TensorDesc& desc = problem.outputs[i];
    expected.emplace_back(static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype));
    reference(i, {0, desc.elements()}, expected.back().data());
  }
  return expected;
}

void expect_bits(const Kernel& kernel, const Problem& problem, const std::vector<Tensor>& inputs,
                 const std::vector<Bits>& expected, int threads) {
  std::vector<const Tensor*> in;
  for (const Tensor& input : inputs) in.push_back(&input);
  std::vector<Tensor> outputs;
  for (const TensorDesc& desc : problem.outputs) outputs.push_back(random_bits(desc, 99));
  std::vector<Tensor*> out;
  for (Tensor& output : outputs) out.push_back(&output);
  run_kernel(kernel, problem, in, out, threads);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Bits actual(expected[i].size());
    const ElementRange all{0, outputs[i].desc.elements()};
    read_elements(outputs[i].desc, outputs[i].data(), all, actual.data());
    EXPECT_TRUE(actual == expected[i])
        << kernel.key() << ", output " << i << ", threads " << threads;
  }
}

bool is_takeable(const MovementUse& use, Format format) {
  return format != Format::NC1HWC0 ||
         std::all_of(use.shapes.begin(), use.shapes.end(),
                     [](const Dims& shape) { return !shape.empty() && shape.size() <= 4; });
}

void expect_variants(const MovementUse& use, DType dtype, Format format, DType index_dtype) {
  const Op& op = find_op(use.op);
  const Attrs attrs = attrs_of(op, use.attrs);
  std::vector<std::optional<DType>> own(use.shapes.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (op.input(i).has_own_dtype()) own[i] = index_dtype;
  }
  const Problem problem =
      make_problem(op, describe_inputs(op, use.shapes, dtype, format, attrs, own), attrs);
  const std::vector<Tensor> inputs = inputs_of(use, problem);
  const std::vector<Bits> expected = expected_bits(problem, inputs);
  for (const Kernel* kernel : kernels_of(use.op)) {
    if (!refusal(*kernel, problem).empty()) continue;
    for (const int threads : {1, 2}) expect_bits(*kernel, problem, inputs, expected, threads);
  }
}

void expect_every_use(std::span<const DType> dtypes) {
  for (const MovementUse& use : movement_uses()) {
    const Op& op = find_op(use.op);
    for (const DType dtype : dtypes) {
      // A plain format follows from the rank, so one plain format stands for all.
      for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
        if (std::ranges::count(op.formats, format) == 0 || !is_takeable(use, format)) continue;
        SCOPED_TRACE(use.text() + ' ' + std::string(name(dtype)) + ' ' + std::string(name(format)));
        expect_variants(use, dtype, format, DType::int64);
        if (op.inputs.back().has_own_dtype()) expect_variants(use, dtype, format, DType::int32);
      }
    }
  }
}

}  // namespace

TEST(Movement, EveryVariantMovesEveryBit) { expect_every_use(kAllDTypes); }

// Bytes are moved without regard to their meaning, so one dtype of each width is enough.
TEST(Movement, WithEveryInstructionSet) {
  constexpr DType kWidths[] = {DType::uint8, DType::fp16, DType::int32, DType::fp64};
  on_every_isa([&] { expect_every_use(kWidths); });
}

}  // namespace opbench
