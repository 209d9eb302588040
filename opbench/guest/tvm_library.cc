#include "opbench/guest/tvm_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "opbench/guest/tvm_abi.h"

namespace opbench::guest {
namespace {

constexpr char kPrefix[] = "__tvm_ffi_";

using MoveFromRaised = void (*)(void**);

struct Function {
  std::string op, name;
  TvmFunction call = nullptr;
};

/// None, or a value of 8 bytes.
TvmAny argument(TvmType type = kTvmNone, std::int64_t integer = 0) {
  TvmAny any = {type, 0, {}};
  any.integer = integer;
  return any;
}

TvmAny pointer_argument(TvmType type, const void* pointer) {
  TvmAny any = argument(type);
  any.pointer = pointer;
  return any;
}

std::string text_of(TvmBytes bytes) {
  return bytes.data ? std::string(bytes.data, bytes.size) : "";
}

/// Its arguments: inputs, attributes in the operator's order, outputs. An input with shape [0] and
/// an attribute without a value are passed as None.
class TvmSession : public Session {
 public:
  TvmSession(const Function& function, MoveFromRaised move_from_raised, Use use, std::byte* memory)
      : function_(function), move_from_raised_(move_from_raised), use_(std::move(use)) {
    use_.inputs.bind(memory);
    use_.outputs.bind(memory);
    lists_.reserve(use_.attrs.size());  // arguments point to them
    for (const DLTensor& input : use_.inputs.tensors) {
      const bool is_given = input.ndim != 1 || input.shape[0] != 0;
      arguments_.push_back(is_given ? pointer_argument(kTvmTensor, &input) : argument());
    }
    for (const AttrValue& attr : use_.attrs) arguments_.push_back(attr_argument(attr));
    for (const DLTensor& output : use_.outputs.tensors)
      arguments_.push_back(pointer_argument(kTvmTensor, &output));
  }

  double call() override {
    TvmAny result = argument();
    const int code =
        function_.call(nullptr, arguments_.data(), std::int32_t(arguments_.size()), &result);
    if (code != 0) throw GuestError(raised_error(code));
    if (result.type >= kTvmFirstObject) release(result.object);
    return -1;
  }

 private:
  TvmAny attr_argument(const AttrValue& attr) {
    if (!attr.is_given) return argument();
    if (attr.kind == OPBENCH_INT) return argument(kTvmInt, attr.integer);
    if (attr.kind == OPBENCH_BOOL) return argument(kTvmBool, attr.integer);
    if (attr.kind == OPBENCH_TEXT) return pointer_argument(kTvmText, attr.text.c_str());
    if (attr.kind == OPBENCH_INTS) {
      // The reference of this session keeps the list alive; nothing destroys it.
      constexpr std::uint64_t kStrongAndWeak = (std::uint64_t(1) << 32) | 1;
      lists_.push_back(
          {{kStrongAndWeak, kTvmShape, 0, nullptr}, attr.ints.data(), attr.ints.size()});
      return pointer_argument(kTvmShape, &lists_.back());
    }
    TvmAny any = argument(kTvmFloat);
    any.number = attr.number;
    return any;
  }

  std::string raised_error(int code) const {
    void* raised = nullptr;
    if (code == -1 && move_from_raised_) move_from_raised_(&raised);
    auto* error = static_cast<TvmErrorHead*>(raised);
    if (!error) return kPrefix + function_.name + " returned " + std::to_string(code);
    const std::string text = text_of(error->kind) + ": " + text_of(error->message);
    release(&error->object);
    return text;
  }

  const Function& function_;
  MoveFromRaised move_from_raised_;
  Use use_;
  std::vector<TvmIntegers> lists_;
  std::vector<TvmAny> arguments_;
};

class TvmLibrary : public Library {
 public:
  TvmLibrary(const TvmExports& exports, std::vector<Function> functions)
      : file_(exports.file),
        functions_(std::move(functions)),
        // From libtvm_ffi.so if the library is linked with it, otherwise from this program.
        move_from_raised_(
            reinterpret_cast<MoveFromRaised>(dlsym(exports.handle, "TVMFFIErrorMoveFromRaised"))) {
    if (!move_from_raised_)
      move_from_raised_ =
          reinterpret_cast<MoveFromRaised>(dlsym(RTLD_DEFAULT, "TVMFFIErrorMoveFromRaised"));
  }

  Json describe() const override {
    Json kernels = Json::array();
    for (const Function& function : functions_) {
      kernels.push_back({{"op", function.op},
                         {"name", function.name},
                         {"summary", "a function of TVM-FFI"},
                         {"source", file_}});
    }
    return {{"device", "cpu"},
            {"hardware", ""},
            {"software", "TVM-FFI"},
            {"device_type", 1},
            {"has_own_memory", false},
            {"runs_torch", false},
            {"kernels", std::move(kernels)}};
  }

  std::unique_ptr<Session> open(std::size_t kernel, Use use, std::byte* memory) override {
    if (kernel >= functions_.size())
      throw GuestError("kernel " + std::to_string(kernel) + " does not exist; the library has " +
                       std::to_string(functions_.size()));
    return std::make_unique<TvmSession>(functions_[kernel], move_from_raised_, std::move(use),
                                        memory);
  }

 private:
  std::string file_;
  std::vector<Function> functions_;
  MoveFromRaised move_from_raised_;
};

TvmFunction find(const TvmExports& exports, const std::string& name) {
  return reinterpret_cast<TvmFunction>(dlsym(exports.handle, (kPrefix + name).c_str()));
}

}  // namespace

std::vector<std::string> tvm_functions(const std::vector<std::string>& symbols) {
  const std::size_t length = sizeof kPrefix - 1;
  std::vector<std::string> names;
  for (const std::string& symbol : symbols) {
    if (symbol.size() > length && symbol.compare(0, length, kPrefix) == 0 && symbol[length] != '_')
      names.push_back(symbol.substr(length));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string variant_name(const std::string& file) {
  std::string name = file.substr(file.find_last_of('/') + 1);
  name = name.substr(0, name.find(".so"));
  if (name.size() > 3 && name.compare(0, 3, "lib") == 0) name.erase(0, 3);
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

std::unique_ptr<Library> read_tvm_library(const TvmExports& exports,
                                          const std::vector<Mapping>& mappings) {
  std::vector<Function> functions;
  std::string known;
  for (const std::string& name : exports.functions) {
    known += (known.empty() ? "" : ", ") + name;
    if (mappings.empty())
      functions.push_back({name, variant_name(exports.file), find(exports, name)});
  }
  for (const Mapping& mapping : mappings) {
    const TvmFunction call = find(exports, mapping.function);
    if (!call)
      throw GuestError(exports.file + ": it does not export __tvm_ffi_" + mapping.function +
                       "; its functions are " + known);
    functions.push_back({mapping.op, mapping.function, call});
  }
  return std::make_unique<TvmLibrary>(exports, std::move(functions));
}

}  // namespace opbench::guest
