#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {

/// The steps of the ShuffleNetV2 unit.
inline const std::vector<std::string> kUnitSteps = {"native",      "index_select",   "half",
                                                    "concat_nchw", "relu_grad_cast", "fused"};

/// Runs contexts with the built program, in its own folder.
class ContextCli : public testing::Test, protected TempDir {
 protected:
  /// Runs the ShuffleNetV2 unit with one image and further arguments.
  Outcome unit(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--cases", source_file("cases/shufflenet_v2_unit.yaml"), "--set",
                               "N=1", "--time", "0.01", "--repetitions", "2"});
    return run_program(std::move(more));
  }
};

}  // namespace opbench
