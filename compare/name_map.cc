#include "compare/name_map.h"

namespace opbench {

const NameMap& default_name_map() {
  static const NameMap map = {
      .ops = {{"CudnnBatchNormBackward", {"NativeBatchNormBackward"}},
              {"NativeBatchNormBackward", {"CudnnBatchNormBackward"}},
              {"CudnnConvolutionBackward", {"NpuConvolutionBackward"}},
              {"ThnnConvDepthwise2DBackward", {"NpuConvolutionBackward"}},
              {"NpuConvolutionBackward",
               {"CudnnConvolutionBackward", "ThnnConvDepthwise2DBackward"}}},
      .params = {{"CudnnBatchNormBackward", {{"epsilon", "eps"}}},
                 {"NativeBatchNormBackward", {{"eps", "epsilon"}}},
                 {"CudnnConvolutionBackward", {{"self", "input"}}},
                 {"ThnnConvDepthwise2DBackward", {{"self", "input"}}},
                 {"NpuConvolutionBackward", {{"input", "self"}}}},
      .counted_together = {"CudnnConvolutionBackward", "ThnnConvDepthwise2DBackward"},
  };
  return map;
}

}  // namespace opbench
