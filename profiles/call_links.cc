#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profiles/call_graph.h"

namespace opbench {
namespace {

// Calls with more tensors are fused updates of all parameters; links of them are ambiguous.
constexpr std::size_t kMostTensors = 64;
// The number of latest tensors of one shape that are considered.
constexpr std::size_t kMostAlike = 64;

bool is_one_element(const ProfiledTensor& tensor) {
  return std::all_of(tensor.storage.begin(), tensor.storage.end(),
                     [](std::int64_t extent) { return extent == 1; });
}

// Empty if the dtype or shape of the tensor is not known. ND and NCHW store a tensor alike.
std::string tensor_key(const ProfiledTensor& tensor) {
  if (tensor.is_absent || !tensor.problem.empty()) return {};
  const bool is_plain = tensor.format == Format::ND || tensor.format == Format::NCHW ||
                        tensor.format == Format::NCDHW;
  return fmt::format("{} {} {}", name(tensor.dtype), is_plain ? "" : name(tensor.format),
                     to_string(tensor.storage));
}

bool can_be_same(const ProfiledTensor& a, const ProfiledTensor& b) {
  return !a.logical || !b.logical || a.is_upper_bound || b.is_upper_bound ||
         *a.logical == *b.logical;
}

bool is_cast(const NetworkOperator& op) {
  return op.built.spec && op.built.spec->op->context.conversion == Conversion::dtype;
}

class Linker {
 public:
  explicit Linker(const std::vector<NetworkCall>& calls) : calls_(calls) {}

  CallLinks run() {
    for (std::size_t i = 0; i < calls_.size(); ++i) add(i);
    return std::move(links_);
  }

 private:
  /// A tensor that was made or read; the latest is last.
  struct Known {
    TensorLink link;
    const ProfiledTensor* tensor = nullptr;
  };

  void add(std::size_t call) {
    const ProfiledOperator& one = calls_[call].op->recorded;
    auto& links = links_.inputs.emplace_back();
    if (one.inputs.size() + one.outputs.size() > kMostTensors) {
      for (const ProfiledTensor& tensor : one.inputs) links.push_back(outside(tensor));
      return;
    }
    keys_.clear();
    for (const ProfiledTensor& tensor : one.inputs) keys_.push_back(tensor_key(tensor));
    for (std::size_t i = 0; i < one.inputs.size(); ++i) links.push_back(link(call, i));
    const bool is_converted = is_conversion(one);
    for (std::size_t i = 0; i < one.outputs.size(); ++i) {
      TensorLink made{call, i, {}, false};
      if (is_converted) {
        made = links[0];
        made.conversions.push_back(call);
      }
      remember(std::move(made), one.outputs[i]);
    }
    if (!is_converted && !one.outputs.empty()) last_ = call;
  }

  TensorLink outside(const ProfiledTensor& tensor) {
    links_.outside.push_back(&tensor);
    return {TensorLink::kOutside, links_.outside.size() - 1, {}, false};
  }

  bool is_weight_of(const NetworkOperator& op, std::size_t place) const {
    for (std::size_t i = 0; i < op.built.inputs.size(); ++i) {
      if (op.built.inputs[i] == place) return is_weight(*op.built.spec->op, i);
    }
    return false;
  }

  bool may_be_weight(const TensorLink& link) const {
    if (link.call == TensorLink::kOutside) return !link.conversions.empty();
    const auto& made_from = links_.inputs[link.call];
    return is_cast(*calls_[link.call].op) && made_from[0].call == TensorLink::kOutside;
  }

  bool is_taken(const TensorLink& link, std::size_t call) const {
    const auto& links = links_.inputs[call];
    return std::any_of(links.begin(), links.end(),
                       [&](const TensorLink& other) { return other.is_same_tensor(link); });
  }

  TensorLink link(std::size_t call, std::size_t input) {
    const NetworkOperator& op = *calls_[call].op;
    const ProfiledTensor& tensor = op.recorded.inputs[input];
    const std::string& key = keys_[input];
    if (key.empty()) return outside(tensor);
    const bool is_a_weight = is_weight_of(op, input), is_single = is_one_element(tensor);
    const Known* latest = nullptr;
    std::size_t candidates = 0;
    for (const Known& one : known_[key]) {
      const bool fits = (!is_a_weight || may_be_weight(one.link)) &&
                        (!is_single || one.link.call == last_) && can_be_same(*one.tensor, tensor);
      if (!fits) continue;
      ++candidates;
      if (!is_taken(one.link, call)) latest = &one;
    }
    if (latest != nullptr) {
      TensorLink found = latest->link;
      const auto wanted = std::count(keys_.begin(), keys_.end(), key);
      found.is_ambiguous = !is_a_weight && candidates > static_cast<std::size_t>(wanted);
      return found;
    }
    TensorLink made = outside(tensor);
    // A converted tensor is most often a weight, and no other layer reads that.
    if (!is_a_weight && !is_single && !is_conversion(op.recorded)) {
      known_[key].insert(known_[key].begin(), {made, &tensor});
    }
    return made;
  }

  void remember(TensorLink made, const ProfiledTensor& tensor) {
    const std::string key = tensor_key(tensor);
    if (key.empty()) return;
    std::vector<Known>& all = known_[key];
    std::erase_if(all, [&](const Known& one) { return one.link.is_same_tensor(made); });
    all.push_back({std::move(made), &tensor});
    if (all.size() > kMostAlike) all.erase(all.begin());
  }

  const std::vector<NetworkCall>& calls_;
  CallLinks links_;
  std::vector<std::string> keys_;  ///< of the inputs of the call that is being linked
  std::map<std::string, std::vector<Known>> known_;
  std::size_t last_ = TensorLink::kOutside - 1;  ///< the latest call that made a result
};

}  // namespace

bool is_weight(const Op& op, std::size_t input) {
  constexpr std::string_view kNames[] = {"weight", "bias", "running_mean", "running_var"};
  return std::find(std::begin(kNames), std::end(kNames), op.input(input).name) != std::end(kNames);
}

CallLinks link_calls(const std::vector<NetworkCall>& calls) { return Linker(calls).run(); }

}  // namespace opbench
