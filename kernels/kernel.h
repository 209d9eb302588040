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

/// The implementation that the variant represents.
enum class Provider {
  framework,  ///< the framework's computation before tuning: `native`
  npu,        ///< the NPU's operator, with its layouts and numerics, computed on the CPU
  vendor,     ///< the CPU vendor's library: `onednn`
  own,        ///< a user's variant from outside of opbench
};
std::string_view name(Provider provider);

/// The values of floating inputs that the variant's real operator supports. Results for other
/// values are not checked.
enum class InputRange { any, finite, normal };  // normal: finite without subnormals

/// Inputs for which the real operator is known to be wrong, so that its variant is wrong as well.
struct KnownLimit {
  /// True for such a value of the problem's input `input`. Null: no such values.
  bool (*holds)(const Problem& problem, std::size_t input, double value) = nullptr;
  std::string_view reason = {};  ///< "like the device: NaN for x > 88.7"
};

/// Storage of the inputs and outputs of one call, in the order of the operator's lists.
struct KernelArgs {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
};

/// A variant bound to one problem. Calls allocate nothing. They use the threads of the enclosing
/// `with_threads`, whose number must be that of the preparation.
using Launch = std::function<void(const KernelArgs& args)>;

/// The words of a command line that add a kernel from outside of this program: "--kernels" and
/// "libmine.so#0123456789abcdef". Empty for a kernel of this program.
struct KernelOrigin {
  std::string_view flag = {}, value = {};
  bool is_device = false;  ///< it does not run on this processor

  bool is_outside() const { return !flag.empty(); }
};

/// One way to compute an operator.
struct Kernel {
  std::string_view op;
  std::string_view name;  ///< with the name of its real operator: "softplus_v2"
  /// The family of variants of different operators that belong together: a graph with `softplus_v2`
  /// uses `softplus_v2_grad` for its gradient. Empty: the name.
  std::string_view family = {};
  Provider provider = Provider::own;
  std::string_view summary;  ///< one line: formula, behaviour, number of passes
  /// The dtypes of cases that it takes; others are skipped. Empty: all dtypes of the operator.
  std::vector<DType> dtypes = {};
  /// Empty if it takes the problem, else the reason of the refusal.
  std::function<std::string(const Problem& problem)> refusal = nullptr;
  std::function<Launch(const Problem& problem)> prepare;
  /// A remark on its times, such as that the library has no tuned code for the problem; empty: no
  /// remark. For problems that it takes, inside `with_threads`. Null: no remarks.
  std::function<std::string(const Problem& problem)> note = nullptr;
  InputRange takes = InputRange::any;
  /// Failures at this limit only are `xfailed`.
  KnownLimit limit = {};
  /// Takes inputs of different floating dtypes if the operator promotes them. Other variants
  /// require a cast first.
  bool promotes = false;
  /// A library that divides sums by the number of threads: the last bits depend on that number.
  bool sums_by_thread = false;
  /// The narrower dtype that a variant computes in; its tolerance is used.
  std::optional<DType> judged_as = {};
  /// The bytes that `prepare` and the calls allocate in addition to inputs and outputs. A case that
  /// does not fit in memory is refused before it runs. Call inside `with_threads`. Null: a
  /// negligible amount.
  std::function<std::size_t(const Problem& problem)> temporary_bytes = nullptr;

  /// The task name of a device variant in a profile, if it is not the variant's name in camel case
  /// ("GatherV2" for index_select). Other variants use the operator's name.
  std::string_view device_name = {};
  /// True for a problem that the variant is specialised for: a context tries it before the others
  /// of its provider. Null: not specialised.
  bool (*is_made_for)(const Problem& problem) = nullptr;
  /// The file that registers it, which identifies its code: "kernels/relu.cc". Set by
  /// RegisteredKernel.
  std::string_view source = {};
  KernelOrigin origin = {};

  std::string key() const { return std::string(op) + '/' + std::string(name); }
  std::string_view family_name() const { return family.empty() ? name : family; }
};

/// Registers a kernel with its file: that of the caller, which helpers pass on.
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

/// Empty if `kernel` takes `problem`, else the reason of the refusal.
std::string refusal(const Kernel& kernel, const Problem& problem);

/// A remark on the kernel's times for `problem`; empty for a problem that it does not take.
std::string note(const Kernel& kernel, const Problem& problem);

/// Bytes of the temporaries of `kernel`; 0 if it does not state them.
std::size_t temporary_bytes(const Kernel& kernel, const Problem& problem);

/// Thrown by a call if its variant takes the problem but not these values, which only the call can
/// check. A run reports the variant as skipped.
class RefusedValues : public Error {
 public:
  using Error::Error;
};

/// The version of the CPU vendor's library in this build; empty without a library.
std::string vendor_version();

}  // namespace opbench
