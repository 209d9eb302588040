#pragma once

#include "judge/judge_output.h"

namespace opbench {

/// How much an output changes, per relative change of the inputs: the scale (see Magnitudes) of
/// what the reference gives for inputs each of which is larger or smaller by 2^-5 at random, less
/// what it gives for the inputs, times 2^5. Of a sum it is what its terms come to with random
/// signs, and so what rounding is relative to where terms cancel. Taken over a few blocks of the
/// output; the inputs are copied for it.
double condition_scale(const CallToJudge& what, std::size_t output);

}  // namespace opbench
