#include "opbench/guest/plugin_library.h"

#include <sstream>
#include <utility>

namespace opbench::guest {
namespace {

constexpr std::size_t kMostKernels = 10000;

std::string text_or(const char* text, const char* otherwise) { return text ? text : otherwise; }

/// Kernels may be longer than OpbenchKernel if the library's minor version is newer.
const OpbenchKernel& kernel_at(const OpbenchPlugin& plugin, std::size_t index) {
  const char* first = reinterpret_cast<const char*>(plugin.kernels);
  return *reinterpret_cast<const OpbenchKernel*>(first + index * plugin.kernel_bytes);
}

std::string version_text(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

/// Why a table cannot be used; "" if it can.
std::string wrong_sizes(const OpbenchPlugin& plugin) {
  const std::string own = std::to_string(sizeof(OpbenchKernel));
  const bool is_newer = plugin.minor > OPBENCH_PLUGIN_MINOR;
  const bool fits = is_newer ? plugin.kernel_bytes >= sizeof(OpbenchKernel) &&
                                   plugin.kernel_bytes % alignof(OpbenchKernel) == 0
                             : plugin.kernel_bytes == sizeof(OpbenchKernel);
  if (!fits)
    return "kernel_bytes is " + std::to_string(plugin.kernel_bytes) + ", allowed in version " +
           version_text(plugin.major, plugin.minor) + (is_newer ? ": multiples of 8 from " : ": ") +
           own + ", sizeof(OpbenchKernel)";
  if (plugin.kernel_count > kMostKernels)
    return "kernel_count is " + std::to_string(plugin.kernel_count) + ", allowed: at most " +
           std::to_string(kMostKernels);
  if (plugin.kernel_count > 0 && !plugin.kernels)
    return "kernels is NULL, but kernel_count is " + std::to_string(plugin.kernel_count);
  return "";
}

std::string wrong_kernel(const OpbenchKernel& kernel, std::size_t index) {
  const std::string place = "kernels[" + std::to_string(index) + "]";
  if (!kernel.op || !*kernel.op) return place + " has no op, such as \"softplus\"";
  if (!kernel.name || !*kernel.name) return place + " (" + kernel.op + ") has no name";
  if (!kernel.call) return place + " (" + kernel.op + ", " + kernel.name + ") has no call";
  return "";
}

/// "fp32, fp16" as a list.
Json words_of(const char* text) {
  Json words = Json::array();
  std::istringstream parts(text_or(text, ""));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t begin = part.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    words.push_back(part.substr(begin, part.find_last_not_of(' ') + 1 - begin));
  }
  return words;
}

/// Throws the library's text after a function returned another value than 0.
void check(int code, const char* function, const OpbenchPlugin& plugin) {
  if (code == 0) return;
  const std::string text = plugin.error ? text_or(plugin.error(), "") : "";
  if (!text.empty()) throw GuestError(text);
  throw GuestError(std::string(function) + " returned " + std::to_string(code));
}

class PluginSession : public Session {
 public:
  PluginSession(const OpbenchPlugin& plugin, const OpbenchKernel& kernel, Use use)
      : plugin_(plugin), kernel_(kernel), use_(std::move(use)) {
    for (const AttrValue& attr : use_.attrs) {
      if (attr.is_given) attrs_.push_back(attr.view());
    }
    case_.op = use_.op.c_str();
    case_.inputs = use_.inputs.tensors.data();
    case_.input_formats = use_.inputs.formats.data();
    case_.input_count = use_.inputs.tensors.size();
    case_.outputs = use_.outputs.tensors.data();
    case_.output_formats = use_.outputs.formats.data();
    case_.output_count = use_.outputs.tensors.size();
    case_.attrs = attrs_.data();
    case_.attr_count = attrs_.size();
    case_.threads = use_.threads;
    case_.kernel = &kernel_;
  }

  ~PluginSession() override {
    if (is_prepared_ && kernel_.close) kernel_.close(state_);
  }

  void prepare(std::byte* memory) {
    if (const char* reason = kernel_.refuse ? kernel_.refuse(&case_) : nullptr)
      throw Refusal(reason);
    if (kernel_.prepare) check(kernel_.prepare(&case_, &state_), "prepare", plugin_);
    is_prepared_ = true;
    use_.inputs.bind(memory);
    use_.outputs.bind(memory);
  }

  void load() override {
    if (kernel_.load) check(kernel_.load(state_, case_.inputs), "load", plugin_);
  }

  double call() override {
    double device_seconds = -1;
    check(kernel_.call(state_, case_.inputs, use_.outputs.tensors.data()), "call", plugin_);
    if (kernel_.wait) check(kernel_.wait(state_, &device_seconds), "wait", plugin_);
    return device_seconds;
  }

  void fetch() override {
    if (kernel_.fetch) check(kernel_.fetch(state_, use_.outputs.tensors.data()), "fetch", plugin_);
  }

 private:
  const OpbenchPlugin& plugin_;
  const OpbenchKernel& kernel_;
  Use use_;
  std::vector<OpbenchAttr> attrs_;
  OpbenchCase case_ = {};
  void* state_ = nullptr;
  bool is_prepared_ = false;
};

class PluginLibrary : public Library {
 public:
  PluginLibrary(std::string file, const OpbenchPlugin& plugin)
      : file_(std::move(file)), plugin_(plugin) {}

  Json describe() const override {
    Json kernels = Json::array();
    bool has_own_memory = false;
    for (std::size_t i = 0; i < plugin_.kernel_count; ++i) {
      const OpbenchKernel& kernel = kernel_at(plugin_, i);
      has_own_memory = has_own_memory || kernel.load || kernel.fetch;
      kernels.push_back({{"op", kernel.op},
                         {"name", kernel.name},
                         {"summary", text_or(kernel.summary, "")},
                         {"dtypes", words_of(kernel.dtypes)},
                         {"formats", words_of(kernel.formats)},
                         {"source", file_}});
    }
    return {{"device", text_or(plugin_.device, "cpu")},
            {"hardware", text_or(plugin_.hardware, "")},
            {"software", text_or(plugin_.software, "")},
            {"device_type", plugin_.device_type ? plugin_.device_type : 1},
            {"has_own_memory", has_own_memory},
            {"runs_torch", false},
            {"kernels", std::move(kernels)}};
  }

  std::unique_ptr<Session> open(std::size_t kernel, Use use, std::byte* memory) override {
    if (kernel >= plugin_.kernel_count)
      throw GuestError("kernel " + std::to_string(kernel) + " does not exist; the library has " +
                       std::to_string(plugin_.kernel_count));
    auto session =
        std::make_unique<PluginSession>(plugin_, kernel_at(plugin_, kernel), std::move(use));
    session->prepare(memory);
    return session;
  }

  bool evict() override {
    if (!plugin_.evict) return false;
    check(plugin_.evict(), "evict", plugin_);
    return true;
  }

 private:
  std::string file_;
  const OpbenchPlugin& plugin_;
};

}  // namespace

std::unique_ptr<Library> read_plugin(const std::string& file, void* entry) {
  const OpbenchPlugin* plugin = reinterpret_cast<decltype(&opbench_plugin)>(entry)();
  if (!plugin)
    throw GuestError(file + ": opbench_plugin() returned NULL: it cannot be used on this machine");
  if (plugin->major != OPBENCH_PLUGIN_MAJOR)
    throw GuestError(file + ": it has version " + version_text(plugin->major, plugin->minor) +
                     " of opbench_plugin.h, allowed: " + std::to_string(OPBENCH_PLUGIN_MAJOR) +
                     ".x");
  std::string wrong = wrong_sizes(*plugin);
  for (std::size_t i = 0; wrong.empty() && i < plugin->kernel_count; ++i)
    wrong = wrong_kernel(kernel_at(*plugin, i), i);
  if (!wrong.empty()) throw GuestError(file + ": " + wrong);
  return std::make_unique<PluginLibrary>(file, *plugin);
}

}  // namespace opbench::guest
