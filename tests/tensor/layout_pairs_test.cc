#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tensor/layout.h"
#include "tensor/parallel.h"
#include "tests/support.h"
#include "tests/tensor/definition.h"

namespace opbench {
namespace {

constexpr std::uint8_t kPoison = 0xFF;

Tensor tensor_of(const TensorDesc& desc, const Bytes& bytes) {
  Tensor result(desc);
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

Bytes contents(const Tensor& tensor) {
  EXPECT_TRUE(tensor.buffer.guards_intact());
  return Bytes(tensor.as<std::uint8_t>(), tensor.as<std::uint8_t>() + tensor.desc.bytes());
}

/// Converts to poisoned storage.
Bytes converted(const Tensor& from, const TensorDesc& to) {
  Tensor target = tensor_of(to, Bytes(to.bytes(), kPoison));
  convert_layout(from, target);
  return contents(target);
}

/// The same elements in each storage, with poisoned padding.
std::vector<Tensor> poisoned(const std::vector<TensorDesc>& storages, const Bytes& logical) {
  std::vector<Tensor> result;
  for (const TensorDesc& desc : storages) {
    result.push_back(tensor_of(desc, stored_by_definition(desc, logical, kPoison)));
  }
  return result;
}

}  // namespace

// Both directions of every pair, so that A -> B -> A gives A with its padding zero.
TEST(LayoutPairs, EveryPairMatchesTheDefinitionAndZeroesPadding) {
  for (const Dims& shape : shapes_of_interest()) {
    for (const DType dtype : {DType::uint8, DType::fp16, DType::fp32, DType::int64}) {
      const std::vector<TensorDesc> storages = every_storage(dtype, shape);
      const Bytes logical = noise(describe(dtype, shape).bytes());
      const std::vector<Tensor> sources = poisoned(storages, logical);
      for (const TensorDesc& to : storages) {
        const Bytes expected = stored_by_definition(to, logical, 0);
        for (const Tensor& from : sources) {
          ASSERT_EQ(converted(from, to), expected) << to_string(from.desc) << " c0 " << from.desc.c0
                                                   << " to " << to_string(to) << " c0 " << to.c0;
        }
      }
    }
  }
}

TEST(LayoutPairs, SeveralBlocksAndThreads) {
  for (const Dims& shape : {Dims{3, 37, 41, 13}, Dims{96, 25, 5, 7}, Dims{2, 21, 5, 13, 17}}) {
    const std::vector<TensorDesc> storages = every_storage(DType::fp16, shape);
    const Bytes logical = noise(describe(DType::fp16, shape).bytes());
    for (std::size_t i = 0; i < storages.size(); i += 2) {
      const TensorDesc &from = storages[i], &to = storages[(i + 5) % storages.size()];
      const Tensor source = tensor_of(from, stored_by_definition(from, logical, kPoison));
      with_threads(i % 4 == 0 ? 1 : 4, [&] {
        ASSERT_EQ(converted(source, to), stored_by_definition(to, logical, 0))
            << to_string(from) << " to " << to_string(to);
      });
    }
  }
}

}  // namespace opbench
