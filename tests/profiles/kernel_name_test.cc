// Names as traces of PyTorch, nsys and nvprof write them.
#include "profiles/kernel_name.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(KernelName, LeavesOutTheTypeAndTheArguments) {
  EXPECT_EQ(short_kernel_name("volta_sgemm_128x64_nn"), "volta_sgemm_128x64_nn");
  EXPECT_EQ(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::"
                              "AddFunctor<float>, at::detail::Array<char*, 3> >(int, float)"),
            "at::native::vectorized_elementwise_kernel");
  EXPECT_EQ(short_kernel_name("void (anonymous namespace)::softmax_warp_forward<float, 10>(int)"),
            "(anonymous namespace)::softmax_warp_forward");
  EXPECT_EQ(short_kernel_name("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, "
                              "float>(cublasGemvParams)"),
            "internal::gemvx::kernel");
  EXPECT_EQ(short_kernel_name("void f(int, float)"), "f");
}

// Profilers cut long names.
TEST(KernelName, TakesWhatIsLeftOfACutName) {
  EXPECT_EQ(short_kernel_name("void at::native::reduce_kernel<512, 1, at::nat"),
            "at::native::reduce_kernel");
  EXPECT_EQ(short_kernel_name(""), "");
  EXPECT_EQ(short_kernel_name("<a>"), "<a>");
  EXPECT_EQ(short_kernel_name("> >"), "> >");
  EXPECT_EQ(short_kernel_name("(x)"), "(x)");
}

}  // namespace opbench
