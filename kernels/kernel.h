#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op.h"
#include "tensor/error.h"
#include "tensor/registered.h"

namespace opbench {

/// Who the variant stands for.
enum class Provider {
  framework,  ///< what a framework does before tuning: `native`
  npu,        ///< the NPU's operator, its layouts and numerics, computed on the CPU
  vendor,     ///< the CPU vendor's library: `onednn`
  own,        ///< one of the user's own, from outside of opbench
};
std::string_view name(Provider provider);

/// Which values of floating inputs a variant's real operator answers for; others are not held
/// against it.
enum class InputRange { any, finite, normal };  // normal: finite and no subnormals

/// Inputs for which the real operator is known to be wrong, so that its variant is wrong there,
/// too.
struct KnownLimit {
  /// True for such a value of the problem's input `input`. Null: there are none.
  bool (*holds)(const Problem& problem, std::size_t input, double value) = nullptr;
  std::string_view reason = {};  ///< "as the device: NaN for x > 88.7"
};

/// Storage of the inputs and outputs of one call, in the order of the operator's lists.
struct KernelArgs {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
};

/// A variant bound to one problem. Calls allocate nothing and use the threads of the enclosing
/// `with_threads`, which must be as many as when it was prepared.
using Launch = std::function<void(const KernelArgs& args)>;

/// How an operator may be computed.
struct Kernel {
  std::string_view op;
  std::string_view name;  ///< of the variant, after the operator it stands for: "softplus_v2"
  /// Variants of different operators that belong together: a graph run with `softplus_v2` takes
  /// `softplus_v2_grad` for its gradient. Empty: the name.
  std::string_view family = {};
  Provider provider = Provider::own;
  std::string_view summary;  ///< one line: which formula, which behaviour, how many passes
  /// Of the case that it takes; others are skipped. Empty: all those of the operator.
  std::vector<DType> dtypes = {};
  /// Empty if it takes the problem, else why not.
  std::string (*refusal)(const Problem& problem) = nullptr;
  Launch (*prepare)(const Problem& problem);
  /// What a reader of its times should know, such as that the library has no tuned code for the
  /// problem; empty: nothing. Of problems that it takes, inside `with_threads`. Null: never.
  std::string (*note)(const Problem& problem) = nullptr;
  InputRange takes = InputRange::any;
  /// What fails there alone is `xfailed`.
  KnownLimit limit = {};
  /// Takes inputs of different floating dtypes where the operator promotes them; others want them
  /// cast before.
  bool promotes = false;
  /// A library that cuts sums by the number of threads: the last bits follow that number.
  bool sums_by_thread = false;
  /// A variant that computes in a narrower type than it stores is judged by that type's tolerance.
  std::optional<DType> judged_as = {};
  /// What `prepare` and the calls allocate beside inputs and outputs, so that a case that does not
  /// fit is refused before it runs. Call inside `with_threads`. None: next to nothing.
  std::size_t (*temporary_bytes)(const Problem& problem) = nullptr;

  /// Of a kernel of the device: its task in a profile, where the name in camel case is another
  /// ("GatherV2" for index_select). Tasks of others are called after the operator.
  std::string_view device_name = {};
  /// True for a problem that the kernel is specialised for: a context tries it before the others of
  /// its provider. Null: for none.
  bool (*is_made_for)(const Problem& problem) = nullptr;
  /// The file that registers it, by which its code is known: "kernels/relu.cc". Set by
  /// RegisteredKernel.
  std::string_view source = {};

  std::string key() const { return std::string(op) + '/' + std::string(name); }
  std::string_view family_name() const { return family.empty() ? name : family; }
};

/// Registers a kernel with the file that does: the caller's, which helpers hand on.
class RegisteredKernel : public Registered<Kernel> {
 public:
  explicit RegisteredKernel(Kernel kernel, std::string_view source = __builtin_FILE())
      : Registered(with_source(std::move(kernel), source)) {}

 private:
  static Kernel with_source(Kernel kernel, std::string_view source) {
    kernel.source = source;
    return kernel;
  }
};

/// The variants of an operator: native first, then NPU, vendor and own, each by name.
const std::vector<const Kernel*>& kernels_of(std::string_view op);

/// Empty if `kernel` takes `problem`, else why not.
std::string refusal(const Kernel& kernel, const Problem& problem);

/// What a reader of the kernel's times for `problem` should know; empty for what it does not take.
std::string note(const Kernel& kernel, const Problem& problem);

/// Bytes that `kernel` takes for temporaries, 0 where it does not say.
std::size_t temporary_bytes(const Kernel& kernel, const Problem& problem);

/// Thrown by a call whose variant takes the problem, but not these values: a refusal that only the
/// call could see. A run reports it as skipped.
class RefusedValues : public Error {
 public:
  using Error::Error;
};

/// Version of the CPU vendor's library whose variants are built in; empty: none is.
std::string vendor_version();

}  // namespace opbench
