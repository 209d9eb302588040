#include "kernels/kernel.h"

#include <gtest/gtest.h>

#include "tests/evaluate.h"

namespace opbench {

TEST(KernelRegistry, VariantsAreSortedByProviderThenName) {
  const std::vector<const Kernel*> kernels = kernels_of("softplus");
  ASSERT_GE(kernels.size(), 2u);
  EXPECT_EQ(kernels.front()->name, "native");
  for (std::size_t i = 1; i < kernels.size(); ++i) {
    const Kernel &a = *kernels[i - 1], &b = *kernels[i];
    EXPECT_EQ(b.op, "softplus");
    EXPECT_TRUE(a.provider < b.provider || (a.provider == b.provider && a.name < b.name))
        << a.name << " before " << b.name;
  }
  EXPECT_TRUE(kernels_of("no_such_operator").empty());
}

TEST(KernelRegistry, EveryVariantIsOfAnOperatorAndSaysWhatItDoes) {
  for (const Kernel* kernel : RegisteredKernel::all()) {
    EXPECT_NO_THROW(find_op(kernel->op)) << kernel->key();
    EXPECT_FALSE(kernel->summary.empty()) << kernel->key();
    EXPECT_NE(kernel->prepare, nullptr) << kernel->key();
  }
}

TEST(KernelRegistry, WhatAKernelDoesNotStateHasADefault) {
  const Kernel kernel{.op = "relu", .name = "own", .summary = "", .prepare = nullptr};
  const Problem problem = problem_with(find_op("relu"), {{4}}, {}, DType::fp32);
  EXPECT_EQ(kernel.key(), "relu/own");
  EXPECT_EQ(kernel.family_name(), "own");
  EXPECT_EQ(refusal(kernel, problem), "");
  EXPECT_EQ(temporary_bytes(kernel, problem), 0u);
}

TEST(KernelRegistry, ProvidersAreSpelledAsTheReportsDo) {
  EXPECT_EQ(name(Provider::framework), "native");
  EXPECT_EQ(name(Provider::npu), "npu");
  EXPECT_EQ(name(Provider::vendor), "vendor");
  EXPECT_EQ(name(Provider::own), "own");
}

// The default provider is `own`, for kernels of users. Kernels of this repository state another
// provider, except those of tests.
TEST(KernelRegistry, KernelsOfOthersAreTheirOwn) {
  EXPECT_EQ(Kernel{}.provider, Provider::own);
  for (const Kernel* kernel : RegisteredKernel::all()) {
    if (kernel->op.starts_with("test_")) continue;
    EXPECT_NE(kernel->provider, Provider::own) << kernel->key();
  }
}

TEST(KernelRegistry, OtherDTypesAreRefusedWithTheReason) {
  const Kernel kernel{.op = "relu",
                      .name = "mine",
                      .summary = "",
                      .dtypes = {DType::fp32, DType::bf16},
                      .prepare = nullptr};
  const Op& relu = find_op("relu");
  EXPECT_EQ(refusal(kernel, problem_with(relu, {{4}}, {}, DType::bf16)), "");
  EXPECT_EQ(refusal(kernel, problem_with(relu, {{4}}, {}, DType::fp16)),
            "it takes fp32, bf16 only, found fp16");
  const Kernel select{.op = "gather_elements",
                      .name = "mine",
                      .summary = "",
                      .dtypes = {DType::fp32},
                      .prepare = nullptr};
  const Problem gather = problem_with(find_op("gather_elements"), {{4}, {4}}, {}, DType::fp32);
  EXPECT_EQ(refusal(select, gather), "") << "the index has a dtype of its own";
}

}  // namespace opbench
