#include "kernels/foreign/foreign_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "kernels/call_clock.h"
#include "kernels/foreign/device_type.h"
#include "kernels/foreign/guest_program.h"
#include "kernels/foreign/session.h"
#include "kernels/kernel.h"
#include "ops/torch_expression.h"
#include "tensor/error.h"
#include "tensor/tensor.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

/// A kernel with the texts that it refers to. Registered while it exists.
struct ForeignKernel {
  std::string op, name, summary, flag, value;
  std::optional<RegisteredKernel> registered;
};

/// A guest and its kernels.
struct Source {
  std::string flag, value;
  std::unique_ptr<Guest> guest;
  std::deque<ForeignKernel> kernels;  ///< in place: the registry refers to them
};

// Guests end with the process, before the objects that they use.
std::deque<Source>& sources() {
  static std::deque<Source> all;
  return all;
}

bool is_plain(const TensorDesc& desc) { return desc.format == desc.origin; }

std::string refused_format(const std::vector<Format>& formats, const Problem& problem) {
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& desc : *tensors) {
      const bool is_taken =
          formats.empty() ? is_plain(desc)
                          : std::find(formats.begin(), formats.end(), desc.format) != formats.end();
      if (!is_taken) return fmt::format("it does not take {}", name(desc.format));
    }
  }
  return {};
}

/// Remarks on the last calls of a kernel, by problem.
using Notes = std::map<std::string, std::string>;

std::string key_of(const Problem& problem) {
  std::string key;
  for (const TensorDesc& desc : problem.inputs) key += to_string(desc) + ' ';
  for (const auto& [name, value] : problem.attrs.values()) key += to_string(value) + ' ';
  return key;
}

/// The sessions of a kernel with a problem, one for each place of the tensors. A session has memory
/// of its own in the guest.
class Sessions {
 public:
  Sessions(Guest& guest, const Problem& problem, Session::Use use)
      : guest_(guest), problem_(problem), use_(std::move(use)) {
    sessions_[0] = std::make_unique<Session>(guest_, problem_, use_);
  }

  /// Calls the session of the present place. Returns its remark.
  std::string call(const KernelArgs& args) {
    std::unique_ptr<Session>& session = sessions_[chosen_place()];
    if (session == nullptr) open(session, args);
    session->call(args);
    return session->note();
  }

 private:
  // The first call of a session does more than others. It does not count.
  void open(std::unique_ptr<Session>& session, const KernelArgs& args) {
    const bool is_cold = takes_cold_call();
    const CallClock clock;
    session = std::make_unique<Session>(guest_, problem_, use_);
    session->call(args);
    add_outside_seconds({clock.seconds(), -clock.launch_seconds()});
    if (is_cold) request_cold_calls();
  }

  Guest& guest_;
  const Problem problem_;
  const Session::Use use_;
  std::map<int, std::unique_ptr<Session>> sessions_;
};

// Calls are repeated in the same sessions. The remark is that of the last call.
Launch launch_of(Guest& guest, const Problem& problem, Session::Use use,
                 std::shared_ptr<Notes> notes) {
  auto sessions = std::make_shared<Sessions>(guest, problem, std::move(use));
  return [sessions = std::move(sessions), notes = std::move(notes),
          key = key_of(problem)](const KernelArgs& args) {
    if (std::string note = sessions->call(args); !note.empty()) (*notes)[key] = std::move(note);
  };
}

void add_kernel(Source& source, const GuestKernel& offered,
                const std::function<Session::Use(const Problem&)>& use,
                std::function<std::string(const Problem&)> refuse) {
  const auto notes = std::make_shared<Notes>();
  ForeignKernel& kernel = source.kernels.emplace_back();
  kernel.op = offered.op;
  kernel.name = offered.name;
  kernel.summary = offered.summary;
  kernel.flag = source.flag;
  kernel.value = source.value;
  Guest& guest = *source.guest;
  kernel.registered.emplace(
      Kernel{.op = kernel.op,
             .name = kernel.name,
             .provider = Provider::own,
             .summary = kernel.summary,
             .dtypes = offered.dtypes,
             .refusal = std::move(refuse),
             .prepare =
                 [&guest, use, notes](const Problem& problem) {
                   return launch_of(guest, problem, use(problem), notes);
                 },
             .note =
                 [notes](const Problem& problem) {
                   const auto found = notes->find(key_of(problem));
                   return found == notes->end() ? std::string() : found->second;
                 },
             .promotes = true,
             .sums_by_thread = true,
             .origin = {kernel.flag, kernel.value, guest.description().device_type != 1}},
      kernel.value);
}

void add_kernels_of_file(Source& source, bool are_all_operators) {
  const std::vector<GuestKernel>& offered = source.guest->description().kernels;
  std::set<std::pair<std::string, std::string>> taken;
  for (const Kernel* kernel : RegisteredKernel::all()) taken.emplace(kernel->op, kernel->name);
  std::string unknown;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const GuestKernel& kernel = offered[i];
    try {
      find_op(kernel.op);
    } catch (const Error& error) {
      unknown = fmt::format("{}: kernel '{}': {}", source.value, kernel.name, error.what());
      if (are_all_operators) throw Error(unknown);
      continue;
    }
    if (!taken.emplace(kernel.op, kernel.name).second) {
      throw Error(fmt::format("{}: {} has a variant '{}' already; the kernel needs another name",
                              source.value, kernel.op, kernel.name));
    }
    add_kernel(
        source, kernel,
        [i](const Problem&) {
          return Session::Use{{{"kernel", i}}, false};
        },
        [formats = kernel.formats](const Problem& problem) {
          return refused_format(formats, problem);
        });
  }
  if (source.kernels.empty()) {
    throw Error(unknown.empty() ? fmt::format("{}: it has no kernels", source.value) : unknown);
  }
}

Json torch_members(const Problem& problem) {
  const std::string expression = torch_expression(*problem.op);
  if (!expression.empty()) return {{"torch", {{"expression", expression}}}};
  const TorchGradient gradient = torch_gradient(problem);
  Json arguments = Json::array();
  for (const GradientArg& arg : gradient.call.args)
    arguments.push_back({name_of(arg.source), arg.index});
  const Op& forward = *gradient.forward;
  return {{"torch",
           {{"expression", torch_expression(forward)},
            {"gradients", gradient.call.of_inputs},
            {"arguments", std::move(arguments)}}},
          {"attrs", json_of(forward, problem.attrs.restricted_to(forward.attrs))}};
}

std::string refused_by_torch(const Problem& problem) {
  const bool is_known =
      !problem.op->known_as.torch.empty() || torch_gradient(problem).forward != nullptr;
  return is_known ? "" : "torch has no simple call for it";
}

// The variant of a device exists for every operator, so that refusals have a reason.
void add_kernels_of_torch(Source& source) {
  const GuestDescription& guest = source.guest->description();
  if (!guest.runs_torch) throw Error(source.value + ": the guest does not run torch");
  const std::string summary = fmt::format("{} on {}", guest.software, guest.hardware);
  for (const Op* op : RegisteredOp::all()) {
    add_kernel(
        source, {std::string(op->name), source.value, summary, {}, {}},
        [](const Problem& problem) {
          return Session::Use{torch_members(problem), true};
        },
        refused_by_torch);
  }
}

bool is_there(const std::string& flag, const std::string& value) {
  return std::any_of(sources().begin(), sources().end(), [&](const Source& source) {
    return source.flag == flag && source.value == value;
  });
}

// A call of an operator on the largest tensors takes seconds.
constexpr double kLongestAnswer = 120;       // seconds
constexpr std::size_t kLongestReason = 100;  // bytes

}  // namespace

void add_foreign_kernels(const ForeignSources& wanted) {
  for (const std::string& file : wanted.files) {
    const GuestProgram program = program_for_file(file);
    if (is_there("--kernels", program.source)) continue;
    Source& source = sources().emplace_back(Source{"--kernels", program.source, {}, {}});
    source.guest = std::make_unique<Guest>(program.argv, program.name, kLongestAnswer);
    add_kernels_of_file(source, !program.lists_functions);
  }
  for (const std::string& device : wanted.devices) {
    if (is_there("--device", device)) continue;
    const GuestProgram program = program_for_device(device);
    Source& source = sources().emplace_back(Source{"--device", device, {}, {}});
    source.guest = std::make_unique<Guest>(program.argv, program.name, kLongestAnswer);
    add_kernels_of_torch(source);
  }
}

namespace {

// Null for a kernel of this program.
const Source* source_of(const Kernel& kernel) {
  const auto source = std::find_if(sources().begin(), sources().end(), [&](const Source& one) {
    return one.flag == kernel.origin.flag && one.value == kernel.origin.value;
  });
  return source == sources().end() ? nullptr : &*source;
}

}  // namespace

int device_type_of(const Kernel& kernel) {
  const Source* source = source_of(kernel);
  return source == nullptr ? 1 : source->guest->description().device_type;
}

double device_copy_rate(const Kernel& kernel, std::size_t bytes) {
  const Source* source = source_of(kernel);
  if (source == nullptr || !source->guest->description().runs_torch) return 0;
  const auto count = static_cast<std::int64_t>(bytes / 2 / sizeof(float)) + 1;
  const Op& relu = find_op("relu");
  const Problem problem = make_problem(relu, {describe(DType::fp32, {count})}, Attrs(relu.attrs));
  Session session(*source->guest, problem, {{{"torch", {{"expression", "x[0].clone()"}}}}, true});
  const Tensor from(problem.inputs[0]), to(problem.outputs[0]);
  const std::vector<const void*> inputs = {from.data()};
  const std::vector<void*> outputs = {to.data()};
  constexpr int kCalls = 5;
  double least = HUGE_VAL;
  for (int i = 0; i < kCalls; ++i) {
    const CallClock clock;
    session.call({inputs, outputs});
    least = std::min(least, clock.seconds());
  }
  return 2.0 * static_cast<double>(problem.inputs[0].bytes()) / std::max(least, 1e-9);
}

DeviceClock device_clock(const Kernel& kernel) {
  const Source* source = source_of(kernel);
  if (source == nullptr || !source->guest->description().reports_clocks) return {};
  const Json answer = source->guest->ask({{"do", "clocks"}});
  DeviceClock clock;
  if (const auto mhz = answer.find("mhz"); mhz != answer.end() && mhz->is_number())
    clock.mhz = std::max(0.0, mhz->get<double>());
  if (const auto why = answer.find("throttled_by"); why != answer.end() && why->is_string())
    clock.throttled_by = printable(excerpt(why->get<std::string>(), kLongestReason));
  return clock;
}

std::vector<ForeignSource> foreign_sources() {
  std::vector<ForeignSource> all;
  for (const Source& source : sources()) {
    all.push_back({source.flag, source.value, source.guest->description(),
                   1e6 * source.guest->overhead_seconds()});
  }
  return all;
}

}  // namespace opbench
