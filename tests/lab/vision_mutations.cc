// Mutations of convolutions and of operators that sample planes. Most run the correct kernel with
// other attributes or inputs.
#include <array>

#include "tests/lab/changed_inputs.h"

namespace opbench {
namespace {

BrokenResults with_other_corners(Run run) {
  return run.results_with(run.problem().attrs.flag("align_corners") ? "align_corners=false"
                                                                    : "align_corners=true");
}

constexpr std::array kVisionMutations = {
    Mutation{"no-bias", "the bias is ignored", with_zero<2>, {"conv1d", "conv3d"}},
    Mutation{"next-tap", "the weight of the next tap", next_slice_of<1, -1>, {"conv1d", "conv3d"}},
    Mutation{"last-tap", "the last tap is left out", without_last_of<1, -1>, {"conv1d", "conv3d"}},
    Mutation{"last-depth",
             "the last depth of a window is left out",
             without_last_of<1, 2>,
             {"conv3d", "conv3d_grad_input"}},
    Mutation{"next-depth", "the next depth of x", next_slice_of<0, 2>, {"conv3d"}},
    Mutation{"next-channel",
             "the weight of the next channel",
             next_slice_of<1, 1>,
             {"conv1d", "conv1d_grad_input", "conv3d", "conv3d_grad_input"}},
    Mutation{"last-image",
             "the last image is left out",
             without_last_of<0, 0>,
             {"conv1d_grad_weight", "conv3d_grad_weight"}},
    Mutation{
        "other-corners",
        "-1 and 1 are edges for centres, or centres for edges",
        with_other_corners,
        {"upsample_bilinear2d", "upsample_bilinear2d_grad", "grid_sample", "grid_sample_grad"}},
    Mutation{"other-scale",
             "a scale that is slightly wrong",
             with<"scale_h=1.9,scale_w=1.9">,
             {"upsample_bilinear2d", "upsample_bilinear2d_grad"}},
    Mutation{"swapped-axes", "x and y are exchanged", with_swapped_halves_of<1>, {"grid_sample"}},
    Mutation{
        "swapped-axes", "x and y are exchanged", with_swapped_halves_of<2>, {"grid_sample_grad"}},
    Mutation{"wrong-padding",
             "the border for zeros",
             with<"padding_mode=border">,
             {"grid_sample", "grid_sample_grad"}},
    Mutation{"reflected",
             "reflection for zeros or the border",
             with<"padding_mode=reflection">,
             {"grid_sample", "grid_sample_grad"}},
    Mutation{"nearest", "no interpolation", with<"mode=nearest">, {"grid_sample"}},
};

}  // namespace

std::span<const Mutation> vision_mutations() { return kVisionMutations; }

}  // namespace opbench
