#pragma once

#include <string>
#include <string_view>

namespace opbench {

/// The path of a tensor without what checkpoints put around the names of parameters: the key of
/// the state dict ("/state_dict/module.conv1.weight" and "/model/conv1.weight" are "conv1.weight")
/// and the prefix of DataParallel. Keys of an optimiser become "optimizer".
std::string checkpoint_name(std::string_view path);

}  // namespace opbench
