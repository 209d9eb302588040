#include "kernels/foreign/guest_program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tensor/buffer.h"
#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForms = "a shared library (.so) or a Python file (.py)";

// Places relative to this program's folder: of a build, and of an installation.
fs::path find_beside(std::initializer_list<const char*> places) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : places) {
    const fs::path path = (folder / place).lexically_normal();
    if (fs::exists(path, error)) return path;
  }
  return {};
}

std::string fingerprint_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(fmt::format("--kernels {}: {}", path, std::strerror(errno)));
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return fmt::format("{:016x}", checksum(bytes.data(), bytes.size()));
}

/// "PATH#FINGERPRINT:NAME=OPERATOR,NAME=OPERATOR" in its parts.
struct FileText {
  std::string path, fingerprint, functions;
};

FileText parse(const std::string& text) {
  FileText parsed;
  std::string rest = text;
  const auto equals = rest.find('=');
  if (const auto colon = rest.rfind(':', equals); equals != rest.npos && colon != rest.npos) {
    parsed.functions = rest.substr(colon + 1);
    rest.resize(colon);
  }
  if (const auto hash = rest.rfind('#'); hash != rest.npos) {
    parsed.fingerprint = rest.substr(hash + 1);
    rest.resize(hash);
  }
  parsed.path = rest;
  return parsed;
}

// NAME=VALUE with what the environment has after it.
std::string with_more(const std::string& name, const std::string& value) {
  const char* more = std::getenv(name.c_str());
  return fmt::format("{}={}{}{}", name, value, more == nullptr ? "" : ":",
                     more == nullptr ? "" : more);
}

std::vector<std::string> python(const std::vector<std::string>& args) {
  const char* interpreter = std::getenv("OPBENCH_PYTHON");
  // With huge pages, times of kernels that allocate do not measure the page table.
  std::vector<std::string> argv = {"env", with_more("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")};
  const fs::path package =
      find_beside({"python/opbench_torch", "../python/opbench_torch",
                   "../share/opbench/python/opbench_torch", "../../python/opbench_torch"});
  if (!package.empty()) argv.push_back(with_more("PYTHONPATH", package.parent_path()));
  argv.insert(argv.end(),
              {interpreter == nullptr ? "python3" : interpreter, "-m", "opbench_torch", "serve"});
  argv.insert(argv.end(), args.begin(), args.end());
  return argv;
}

std::string checked_mode(const std::string& device, const std::string& mode) {
  if (mode == "high_precision" || mode == "high_performance") return mode;
  throw Error(fmt::format(
      "--device {}: the implementation mode '{}' is unknown; high_precision or high_performance",
      device, mode));
}

}  // namespace

GuestProgram program_for_file(const std::string& file) {
  const auto [path, wanted, functions] = parse(file);
  const std::string ending = fs::path(path).extension();
  if (ending != ".so" && ending != ".py") {
    throw Error(fmt::format("--kernels takes {}, found '{}'", kForms, path));
  }
  const std::string found = fingerprint_of(path);
  if (!wanted.empty() && wanted != found) {
    throw Error(fmt::format("--kernels {}: the file has changed: its fingerprint is {}, not {}",
                            path, found, wanted));
  }
  GuestProgram program{
      {},
      fs::path(path).filename(),
      fmt::format("{}#{}{}{}", path, found, functions.empty() ? "" : ":", functions),
      ending == ".so" && functions.empty()};
  const std::string absolute = fs::absolute(path);
  if (ending == ".py") {
    program.argv = python({"--kernels", absolute});
    return program;
  }
  const fs::path guest =
      find_beside({"opbench_guest", "../opbench_guest", "../lib/opbench/opbench_guest"});
  program.argv = {guest.empty() ? "opbench_guest" : guest, absolute};
  for (std::size_t begin = 0; begin < functions.size();) {
    const std::size_t end = std::min(functions.find(',', begin), functions.size());
    program.argv.push_back(functions.substr(begin, end - begin));
    begin = end + 1;
  }
  return program;
}

std::string with_impl_mode(const std::string& device, const std::string& mode) {
  constexpr std::string_view kNpu = "torch:npu";
  if (!device.starts_with(kNpu)) {
    throw Error(
        fmt::format("--impl-mode is for torch:npu:N; {} has no implementation modes", device));
  }
  if (device.find(':', kNpu.size() + 1) != device.npos) {
    throw Error(fmt::format("--device {} states its mode; leave out --impl-mode", device));
  }
  return fmt::format("{}{}:{}", device, device.size() == kNpu.size() ? ":0" : "", mode);
}

GuestProgram program_for_device(const std::string& device) {
  constexpr std::string_view kTorch = "torch:", kNpu = "npu:";
  if (!device.starts_with(kTorch) || device.size() == kTorch.size()) {
    throw Error(
        fmt::format("--device takes torch:cpu, torch:cuda:N or torch:npu:N, found '{}'", device));
  }
  std::string place = device.substr(kTorch.size());
  std::vector<std::string> args = {"--device", place};
  const std::size_t colon = place.find(':', kNpu.size());
  if (place.starts_with(kNpu) && colon != place.npos) {
    args = {"--device", place.substr(0, colon), "--impl-mode",
            checked_mode(device, place.substr(colon + 1))};
  }
  return {python(args), device, device, false};
}

}  // namespace opbench
