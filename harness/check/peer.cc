#include "harness/check/peer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tensor/error.h"

namespace opbench {
namespace {

// Starting and saying hello takes milliseconds; under a sanitizer and on a busy machine more.
constexpr double kHelloSeconds = 30;

std::vector<std::string> command_of(const PeerProgram& program) { return {program.path, "worker"}; }

Hello read_hello(ChildProcess& child, const PeerProgram& program) {
  std::string line;
  try {
    line = child.read_line(std::min(kHelloSeconds, program.time_limit_s));
  } catch (const ChildLost& lost) {
    throw Error(fmt::format("{} before it said which version it is; is it an opbench with `check`?",
                            lost.what()));
  }
  try {
    return parse_hello(line);
  } catch (const Error& error) {
    throw Error(fmt::format("'{}' is no opbench with `check`: {}", program.path, error.what()));
  }
}

}  // namespace

ChildProcess& Peer::child() {
  if (child_) return *child_;
  auto started = std::make_unique<ChildProcess>(command_of(program_), program_.directory);
  const Hello hello = read_hello(*started, program_);
  if (hello.protocol < kOldestProtocol || hello.oldest > kProtocolVersion) {
    throw Error(fmt::format(
        "'{}' ({}) speaks versions {} to {} of the protocol, this one {} to {}: build both from "
        "revisions that are nearer to each other",
        program_.path, hello.build.revision, hello.oldest, hello.protocol, kOldestProtocol,
        kProtocolVersion));
  }
  build_ = hello.build;
  child_ = std::move(started);
  return *child_;
}

std::string Peer::ask(const std::string& line) {
  try {
    child().write_line(line, program_.time_limit_s);
    return child_->read_line(program_.time_limit_s);
  } catch (const ChildLost&) {
    child_.reset();
    throw;
  }
}

template <class Parse>
auto Peer::parsed(const std::string& answer, Parse parse) {
  try {
    return parse(answer);
  } catch (const PeerError&) {
    throw;
  } catch (const Error& error) {
    child_.reset();  // whatever comes next from it belongs to nothing
    throw ChildLost(
        fmt::format("'{}' gave an answer that cannot be read: {}", program_.path, error.what()));
  }
}

const BuildInfo& Peer::build() {
  child();
  return build_;
}

std::vector<ListedCase> Peer::list(const RunOptions& options) {
  return parsed(ask(list_line(options)), parse_listed);
}

OpenReply Peer::open(const OpenRequest& request) {
  return parsed(ask(open_line(request)), parse_opened);
}

double Peer::sample_us(std::string_view variant) {
  return parsed(ask(sample_line(variant)), parse_sampled);
}

void Peer::close() {
  if (child_) parsed(ask(close_line()), parse_closed);
}

}  // namespace opbench
