// Checks every variant of the operators in a network's layers against the reference, over shapes
// and attributes that the conformance test does not cover. Padding lanes hold NaN. A new variant
// needs no entry here.
#include <gmock/gmock.h>

#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

struct LayerUse {
  std::string op;
  std::vector<Dims> shapes;
  AttrTexts attrs = {};

  std::string text() const {
    std::string result = op;
    for (const Dims& shape : shapes) result += ' ' + to_string(shape);
    for (const auto& [name, value] : attrs) result += ' ' + name + '=' + value;
    return result;
  }
};

void PrintTo(const LayerUse& use, std::ostream* out) { *out << use.text(); }

const std::vector<LayerUse>& layer_uses() {
  static const std::vector<LayerUse> all = {
      {"matmul", {{1, 1}, {1, 1}}},
      {"matmul", {{65, 33}, {33, 17}}},
      {"matmul", {{33, 65}, {33, 70}}, {{"transpose_a", "true"}}},
      {"matmul", {{130, 20}, {49, 20}}, {{"transpose_b", "true"}}},
      {"matmul", {{20, 13}, {9, 20}}, {{"transpose_a", "true"}, {"transpose_b", "true"}}},
      {"matmul", {{3, 17, 5}, {3, 5, 16}}},
      {"matmul", {{2, 3, 7, 18}, {2, 3, 18, 80}}},
      // Sizes are around tiles of 64 rows and 96 columns, which are loaded in parts of 256 columns.
      {"matmul", {{65, 257}, {257, 96}}},
      {"matmul", {{64, 31}, {31, 95}}},
      {"matmul", {{66, 30}, {30, 209}}},
      {"matmul", {{50, 512}, {512, 97}}},  // distant rows: the first factor is packed
      {"linear", {{50, 30}, {96, 30}, {96}}},
      {"linear", {{50, 30}, {97, 30}, {97}}},
      {"matmul", {{9, 50, 20}, {9, 20, 112}}},  // more products than threads
      {"matmul", {{63, 256}, {256, 129}}},
      {"matmul", {{273, 64}, {273, 65}}, {{"transpose_a", "true"}}},
      {"matmul", {{15, 272}, {127, 272}}, {{"transpose_b", "true"}}},
      // Few rows: sizes around a block of the cube, and the most rows without packing.
      {"matmul", {{16, 33}, {33, 255}}},
      {"matmul", {{17, 16}, {16, 2049}}},  // so many columns that they are loaded in parts
      {"matmul", {{2, 48, 40}, {2, 40, 1300}}},
      {"matmul", {{49, 40}, {40, 257}}},
      {"matmul", {{17, 257}, {33, 257}}, {{"transpose_b", "true"}}},
      {"matmul", {{3, 40, 47}, {3, 15, 40}}, {{"transpose_a", "true"}, {"transpose_b", "true"}}},
      {"matmul", {{49, 17}, {17, 17}}, {{"transpose_b", "true"}}},
      {"linear", {{48, 31}, {17, 31}, {17}}},
      {"matmul", {{0, 5}, {5, 3}}},
      {"matmul", {{5, 0}, {0, 3}}},
      {"linear", {{3, 40}, {33, 40}, {33}}},
      {"linear", {{1, 1024}, {10, 1024}}},
      {"linear", {{0, 7}, {5, 7}, {5}}},
      // The unfolded image exceeds the cache, so it is processed in strips.
      {"conv2d", {{1, 512, 6, 30}, {2, 512, 3, 3}, {2}}, {{"padding", "1"}}},
      {"conv2d", {{1, 1, 1, 1}, {1, 1, 1, 1}, {1}}},
      {"conv2d", {{2, 3, 13, 11}, {24, 3, 3, 3}}, {{"stride", "2"}, {"padding", "1"}}},
      {"conv2d", {{1, 20, 9, 7}, {33, 20, 1, 1}, {33}}},
      {"conv2d", {{2, 58, 7, 7}, {58, 58, 1, 1}}},
      {"conv2d", {{1, 17, 10, 9}, {18, 17, 3, 2}, {18}}, {{"stride", "[1,2]"}, {"dilation", "2"}}},
      {"conv2d", {{1, 4, 9, 9}, {6, 2, 3, 3}}, {{"groups", "2"}, {"padding", "[2,1]"}}},
      {"conv2d", {{1, 40, 5, 6}, {80, 10, 3, 3}}, {{"groups", "4"}, {"padding", "1"}}},
      {"conv2d", {{1, 64, 4, 4}, {64, 8, 1, 1}}, {{"groups", "8"}}},
      {"conv2d",
       {{2, 58, 9, 9}, {58, 1, 3, 3}},
       {{"groups", "58"}, {"padding", "1"}, {"stride", "2"}}},
      {"conv2d", {{1, 16, 7, 8}, {16, 1, 3, 3}, {16}}, {{"groups", "16"}, {"padding", "1"}}},
      {"conv2d", {{1, 5, 6, 6}, {5, 1, 2, 2}}, {{"groups", "5"}, {"dilation", "3"}}},
      {"conv2d", {{1, 3, 6, 6}, {6, 1, 3, 3}}, {{"groups", "3"}}},
      {"conv2d", {{1, 2, 20, 20}, {3, 2, 20, 20}}},
      {"conv2d", {{0, 3, 5, 5}, {4, 3, 3, 3}}},
      {"conv2d_grad_input", {{1, 1, 1, 1}, {1, 1, 1, 1}}},
      {"conv2d_grad_input",
       {{2, 24, 7, 6}, {24, 3, 3, 3}},
       {{"stride", "2"}, {"padding", "1"}, {"input_size", "[13,12]"}}},
      {"conv2d_grad_input", {{2, 33, 5, 7}, {33, 20, 1, 1}}},
      {"conv2d_grad_input",
       {{1, 18, 5, 4}, {18, 17, 3, 2}},
       {{"stride", "[1,2]"}, {"dilation", "2"}}},
      {"conv2d_grad_input", {{1, 80, 5, 6}, {80, 10, 3, 3}}, {{"groups", "4"}, {"padding", "1"}}},
      {"conv2d_grad_input",
       {{2, 58, 5, 5}, {58, 1, 3, 3}},
       {{"groups", "58"}, {"padding", "1"}, {"stride", "2"}, {"input_size", "9"}}},
      {"conv2d_grad_input", {{1, 5, 4, 4}, {5, 1, 2, 2}}, {{"groups", "5"}, {"dilation", "3"}}},
      {"conv2d_grad_input", {{1, 3, 1, 1}, {3, 2, 20, 20}}},
      {"conv2d_grad_input", {{0, 4, 3, 3}, {4, 3, 3, 3}}},
      {"conv2d_grad_weight", {{1, 1, 1, 1}, {1, 1, 1, 1}}},
      {"conv2d_grad_weight",
       {{2, 24, 7, 6}, {2, 3, 13, 12}},
       {{"stride", "2"}, {"padding", "1"}, {"kernel_size", "3"}}},
      {"conv2d_grad_weight", {{2, 70, 5, 7}, {2, 20, 5, 7}}},
      {"conv2d_grad_weight",
       {{1, 18, 6, 4}, {1, 17, 10, 9}},
       {{"stride", "[1,2]"}, {"dilation", "2"}, {"kernel_size", "[3,2]"}}},
      {"conv2d_grad_weight", {{1, 80, 5, 6}, {1, 40, 5, 6}}, {{"groups", "4"}, {"padding", "1"}}},
      {"conv2d_grad_weight",
       {{2, 58, 5, 5}, {2, 58, 9, 9}},
       {{"groups", "58"}, {"padding", "1"}, {"stride", "2"}, {"kernel_size", "3"}}},
      {"conv2d_grad_weight",
       {{1, 5, 3, 3}, {1, 5, 6, 6}},
       {{"groups", "5"}, {"dilation", "3"}, {"kernel_size", "2"}}},
      {"conv2d_grad_weight", {{1, 3, 1, 1}, {1, 2, 20, 20}}},
      // dy has one place. Windows begin in the padding, and end after or before the end of the
      // plane.
      {"conv2d_grad_weight",
       {{3, 40, 1, 1}, {3, 19, 5, 6}},
       {{"padding", "[2,1]"}, {"dilation", "[4,3]"}, {"stride", "2"}, {"kernel_size", "3"}}},
      {"conv2d_grad_weight",
       {{2, 17, 1, 1}, {2, 33, 4, 7}},
       {{"padding", "1"}, {"kernel_size", "[6,9]"}}},
      {"conv2d_grad_weight", {{70, 17, 1, 1}, {70, 16, 1, 1}}},
      {"conv2d_grad_weight", {{0, 4, 1, 1}, {0, 3, 3, 3}}},
      {"conv2d_grad_weight", {{0, 4, 3, 3}, {0, 3, 5, 5}}},
      {"batch_norm", {{2, 3, 5, 7}, {3}, {3}, {3}, {3}}},
      {"batch_norm", {{1, 64, 9, 11}, {64}, {64}, {64}, {64}}, {{"momentum", "0.3"}}},
      {"batch_norm", {{2, 58, 7, 7}, {58}, {58}, {58}, {58}}},
      {"batch_norm", {{2, 58, 7, 7}, {58}, {58}, {58}, {58}}, {{"training", "false"}}},
      {"batch_norm", {{1, 32, 1, 1}, {32}, {32}, {32}, {32}}, {{"training", "false"}}},
      {"batch_norm", {{0, 5, 3, 3}, {5}, {5}, {5}, {5}}, {{"training", "false"}}},
      {"batch_norm", {{40, 33}, {33}, {33}, {33}, {33}}},
      {"batch_norm_grad", {{2, 3, 5, 7}, {2, 3, 5, 7}, {3}, {3}, {3}}},
      {"batch_norm_grad", {{2, 64, 9, 5}, {2, 64, 9, 5}, {64}, {64}, {64}}},
      {"batch_norm_grad", {{3, 58, 7, 7}, {3, 58, 7, 7}, {58}, {58}, {58}}},
      {"batch_norm_grad", {{40, 33}, {40, 33}, {33}, {33}, {33}}},
      {"batch_norm_variance_grad", {{2, 3, 5, 7}, {2, 3, 5, 7}, {3}, {3}, {3}}, {{"eps", "0.5"}}},
      {"batch_norm_variance_grad", {{3, 58, 7, 7}, {3, 58, 7, 7}, {58}, {58}, {58}}},
      {"batch_norm_variance_grad", {{40, 33}, {40, 33}, {33}, {33}, {33}}},
      {"batch_norm_infer_grad", {{2, 3, 5, 7}, {2, 3, 5, 7}, {3}, {3}, {3}}, {{"eps", "0.5"}}},
      {"batch_norm_infer_grad", {{2, 64, 9, 5}, {2, 64, 9, 5}, {64}, {64}, {64}}},
      {"batch_norm_infer_grad", {{3, 58, 7, 7}, {3, 58, 7, 7}, {58}, {58}, {58}}},
      {"batch_norm_infer_grad", {{1, 33}, {1, 33}, {33}, {33}, {33}}},
      {"batch_norm_infer_grad", {{0, 5, 3, 3}, {0, 5, 3, 3}, {5}, {5}, {5}}},
      {"addmm", {{70}, {65, 33}, {33, 70}}, {{"alpha", "0.5"}, {"beta", "2"}}},
      {"addmm", {{65, 1}, {65, 257}, {257, 96}}},
      {"addmm", {{17, 2049}, {17, 16}, {16, 2049}}},
      {"addmm", {{3, 1, 16}, {3, 17, 5}, {3, 5, 16}}},
      {"addmm", {{1, 17, 1}, {9, 17, 5}, {9, 5, 96}}},
      {"addmm", {{3}, {5, 0}, {0, 3}}},
      {"addmm", {{3}, {0, 5}, {5, 3}}},
      {"embedding_grad", {{7, 3, 65}, {7, 3}}, {{"num_weights", "5"}}},
      {"embedding_grad", {{300, 1}, {300}}, {{"num_weights", "33"}, {"padding_idx", "7"}}},
      {"embedding_grad", {{0, 5}, {0}}, {{"num_weights", "3"}}},
      {"adaptive_avg_pool2d", {{2, 17, 7, 9}}, {{"output_size", "[3,4]"}}},
      {"adaptive_avg_pool2d", {{1, 3, 14, 14}}, {{"output_size", "7"}}},
      {"adaptive_avg_pool2d", {{1, 3, 2, 3}}, {{"output_size", "5"}}},
      {"adaptive_avg_pool2d", {{0, 3, 2, 3}}},
      {"adaptive_avg_pool2d_grad", {{2, 17, 3, 4}}, {{"input_size", "[7,9]"}}},
      {"adaptive_avg_pool2d_grad", {{2, 3, 5, 5}}, {{"input_size", "[2,3]"}}},
      {"upsample_nearest2d", {{2, 17, 7, 9}}},
      {"upsample_nearest2d", {{1, 3, 5, 33}}, {{"output_size", "[8,65]"}}},
      {"upsample_nearest2d", {{1, 3, 9, 33}}, {{"output_size", "[4,15]"}, {"scale_h", "0.45"}}},
      {"upsample_nearest2d_grad", {{2, 17, 14, 18}}},
      {"upsample_nearest2d_grad", {{1, 3, 8, 65}}, {{"input_size", "[5,33]"}}},
      {"upsample_bilinear2d", {{2, 3, 7, 9}}, {{"output_size", "[15,33]"}}},
      {"upsample_bilinear2d",
       {{1, 3, 5, 33}},
       {{"output_size", "[8,17]"}, {"align_corners", "true"}}},
      {"upsample_bilinear2d", {{1, 2, 9, 33}}, {{"output_size", "[4,15]"}, {"scale_h", "0.45"}}},
      {"upsample_bilinear2d_grad", {{2, 17, 14, 18}}},
      {"upsample_bilinear2d_grad", {{1, 3, 8, 65}}, {{"input_size", "[5,33]"}}},
      {"grid_sample", {{2, 3, 7, 9}, {2, 5, 33, 2}}, {{"padding_mode", "border"}}},
      {"grid_sample", {{1, 3, 1, 9}, {1, 4, 17, 2}}, {{"padding_mode", "reflection"}}},
      {"grid_sample", {{2, 3, 7, 9}, {2, 15, 3, 2}}, {{"mode", "nearest"}}},
      {"grid_sample",
       {{1, 2, 5, 6}, {1, 5, 31, 2}},
       {{"padding_mode", "reflection"}, {"align_corners", "true"}}},
      {"grid_sample_grad",
       {{2, 3, 5, 53}, {2, 3, 7, 9}, {2, 5, 53, 2}},
       {{"padding_mode", "reflection"}}},
      {"grid_sample_grad",
       {{1, 3, 4, 17}, {1, 3, 1, 9}, {1, 4, 17, 2}},
       {{"align_corners", "true"}, {"padding_mode", "border"}}},
      {"grid_sample_grad", {{1, 2, 3, 9}, {1, 2, 5, 6}, {1, 3, 9, 2}}, {{"mode", "nearest"}}},
      {"conv1d",
       {{2, 6, 33}, {8, 3, 3}, {8}},
       {{"groups", "2"}, {"stride", "2"}, {"padding", "1"}}},
      {"conv1d_grad_input", {{2, 8, 17}, {8, 6, 3}}, {{"stride", "2"}, {"padding", "1"}}},
      {"conv1d_grad_weight", {{2, 8, 17}, {2, 6, 33}}, {{"stride", "2"}, {"padding", "1"}}},
      {"conv3d",
       {{1, 4, 3, 7, 9}, {6, 2, 2, 3, 3}, {6}},
       {{"groups", "2"}, {"stride", "[1,2,1]"}, {"padding", "[1,0,1]"}}},
      {"conv3d_grad_input", {{2, 5, 2, 4, 3}, {5, 3, 3, 2, 2}}, {{"padding", "1"}}},
      {"conv3d_grad_weight", {{2, 5, 2, 4, 3}, {2, 3, 3, 4, 3}}, {{"padding", "[1,1,1]"}}},
      // Sizes are around the lanes of a sum and the columns that are summed together.
      {"layer_norm", {{5, 63}, {63}, {63}}},
      {"layer_norm", {{3, 65}, {65}}},
      {"layer_norm", {{3, 768}}},
      {"layer_norm", {{0, 7}, {7}, {7}}},
      {"layer_norm", {{4, 3, 1}, {1}, {1}}},
      {"layer_norm", {{2, 3, 5, 7}, {5, 7}, {5, 7}}, {{"normalized_shape", "[5,7]"}}},
      {"layer_norm_grad", {{5, 63}, {5, 63}, {5, 1}, {5, 1}, {63}}},
      {"layer_norm_grad", {{130, 255}, {130, 255}, {130, 1}, {130, 1}, {255}}},
      {"layer_norm_grad", {{3, 513}, {3, 513}, {3}, {3}, {513}}},
      {"layer_norm_grad", {{3, 257}, {3, 257}, {3, 1}, {3, 1}}},
      {"layer_norm_grad", {{0, 7}, {0, 7}, {0, 1}, {0, 1}, {7}}},
      {"log_softmax", {{3, 65}}},
      {"log_softmax", {{2, 17, 65}}, {{"dim", "1"}}},
      {"log_softmax", {{2, 1000}}},
      {"log_softmax_grad", {{3, 65}, {3, 65}}},
      {"log_softmax_grad", {{2, 17, 65}, {2, 17, 65}}, {{"dim", "1"}}},
      {"max_pool2d", {{2, 3, 7, 9}}, {{"kernel_size", "3"}, {"stride", "2"}, {"padding", "1"}}},
      {"max_pool2d", {{1, 58, 8, 8}}},
      {"max_pool2d", {{1, 16, 10, 7}}, {{"kernel_size", "[4,3]"}, {"stride", "[3,1]"}}},
      {"max_pool2d", {{0, 3, 7, 9}}},
      {"max_pool2d",
       {{1, 17, 5, 4}},
       {{"kernel_size", "12"}, {"padding", "6"}, {"stride", "5"}, {"ceil_mode", "true"}}},
      {"max_pool2d",
       {{2, 3, 8, 66}},
       {{"kernel_size", "3"}, {"stride", "2"}, {"ceil_mode", "true"}}},
      {"max_pool2d",
       {{1, 17, 9, 37}},
       {{"kernel_size", "3"}, {"padding", "1"}, {"stride", "1"}, {"dilation", "[2,3]"}}},
      {"max_pool2d",
       {{1, 3, 9, 11}},
       {{"kernel_size", "[5,2]"}, {"stride", "4"}, {"dilation", "2"}, {"ceil_mode", "true"}}},
      {"max_pool2d_grad", {{2, 20, 4, 5}, {2, 20, 4, 5}}, {{"input_size", "[7,9]"}}},
      {"max_pool2d_grad", {{1, 16, 1, 1}, {1, 16, 1, 1}}, {{"input_size", "1"}}},
      {"avg_pool2d", {{2, 58, 8, 8}}},
      {"avg_pool2d",
       {{1, 17, 9, 37}},
       {{"kernel_size", "3"}, {"padding", "1"}, {"stride", "2"}, {"ceil_mode", "true"}}},
      {"avg_pool2d",
       {{2, 3, 8, 66}},
       {{"kernel_size", "[3,5]"}, {"padding", "[1,2]"}, {"count_include_pad", "false"}}},
      {"avg_pool2d", {{0, 3, 7, 9}}},
      {"avg_pool2d_grad", {{2, 20, 4, 5}}},
      {"avg_pool2d_grad",
       {{1, 16, 5, 19}},
       {{"kernel_size", "3"}, {"padding", "1"}, {"stride", "2"}, {"input_size", "[9,38]"}}},
      {"global_avg_pool2d", {{2, 58, 7, 7}}},
      {"global_avg_pool2d", {{1, 33, 1, 1}}},
      {"global_avg_pool2d", {{3, 16, 5, 64}}},
      {"global_avg_pool2d_grad", {{2, 58, 1, 1}}},
      {"global_avg_pool2d_grad", {{2, 58, 1, 1}}, {{"input_size", "[3,5]"}}},
      {"softmax", {{1, 1}}},
      {"softmax", {{5, 1000}}},
      {"softmax", {{2, 3, 17, 5}}, {{"dim", "2"}}},
      {"softmax", {{33, 7}}, {{"dim", "0"}}},
      {"softmax_grad", {{5, 1000}, {5, 1000}}},
      {"softmax_grad", {{3, 18, 2, 2}, {3, 18, 2, 2}}, {{"dim", "1"}}},
      {"cross_entropy", {{1, 1}, {1}}},
      {"cross_entropy", {{17, 1000}, {17}}},
      {"cross_entropy", {{17, 33}, {17}, {33}}, {{"ignore_index", "5"}}},
      {"cross_entropy", {{65, 70}, {65}, {70}}, {{"label_smoothing", "0.1"}}},
      {"cross_entropy", {{17, 33}, {17}, {33}}, {{"reduction", "none"}}},
      {"cross_entropy", {{65, 70}, {65}}, {{"reduction", "sum"}}},
      {"cross_entropy_grad", {{17}, {17, 33}, {17}}, {{"reduction", "none"}}},
      {"cross_entropy_grad", {{}, {17, 33}, {17}, {33}}, {{"reduction", "sum"}}},
      {"cross_entropy_grad", {{}, {17, 33}, {17}}},
      {"cross_entropy_grad", {{}, {130, 7}, {130}, {7}}, {{"ignore_index", "3"}}},
      {"cross_entropy_grad", {{}, {17, 33}, {17}}, {{"label_smoothing", "1"}}},
      {"cross_entropy_grad", {{}, {65, 70}, {65}, {70}}, {{"label_smoothing", "0.1"}}},
      {"bias_grad", {{3, 58, 5, 7}}},
      {"bias_grad", {{1, 32, 1, 1}}},
      {"bias_grad", {{70, 33}}},
  };
  return all;
}

}  // namespace

class Layers : public testing::TestWithParam<LayerUse> {};

TEST_P(Layers, AgreeWithTheReference) {
  const auto& [op_name, shapes, attrs] = GetParam();
  const Op& op = find_op(op_name);
  int held = 0;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      const std::size_t rank = shapes.front().size();
      if (format_for_rank(format, rank) != format) continue;
      if (format == Format::NC1HWC0 && rank != 4) continue;
      const Problem problem = problem_with(op, shapes, attrs, dtype, format);
      for (const Kernel* kernel : kernels_of(op_name)) {
        if (!expect_conforms(*kernel, problem, 1)) continue;
        EXPECT_TRUE(expect_conforms(*kernel, problem, 2));
        ++held;
      }
    }
  }
  EXPECT_GT(held, 0);
}

INSTANTIATE_TEST_SUITE_P(Uses, Layers, testing::ValuesIn(layer_uses()));

}  // namespace opbench
