#include "harness/check/worker_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "harness/plan/case.h"
#include "tensor/error.h"
#include "text/fitted.h"
#include "workers/interrupt.h"

namespace opbench::check {
namespace {

// Start and greeting take milliseconds; under a sanitizer and on a busy machine more.
constexpr double kHelloSeconds = 30;
// The end of a worker takes milliseconds as well.
constexpr double kEndSeconds = 10;
// A list of 10,000 cases has 4 MiB. Parsed, it takes 15 times that memory.
constexpr std::size_t kLongestAnswer = std::size_t{8} << 20;

Connection start(const WorkerProgram& program) {
  if (program.connect) return program.connect();
  std::vector<std::string> argv = {program.path, "worker"};
  if (!program.kernels.empty()) argv.emplace_back("--kernels");
  argv.insert(argv.end(), program.kernels.begin(), program.kernels.end());
  const auto child = std::make_shared<ChildProcess>(std::move(argv), program.directory);
  return {[child](const std::string& line, double seconds) {
            child->refuse_unasked();
            child->write_line(line, seconds);
          },
          [child](double seconds) { return child->read_line(seconds, kLongestAnswer); },
          [child](double seconds) { return child->finish(seconds); }};
}

Hello read_hello(const Connection& connection, const WorkerProgram& program) {
  std::string line;
  try {
    line = connection.read_line(std::min(kHelloSeconds, program.time_limit_s));
  } catch (const ChildLost& lost) {
    throw Error(
        fmt::format("{} before it sent its version; is it an opbench with `check`?", lost.what()));
  }
  try {
    return parse_hello(line);
  } catch (const Error& error) {
    throw Error(fmt::format("'{}' is not an opbench with `check`: {}", program.path, error.what()));
  }
}

}  // namespace

Connection& WorkerClient::connection() {
  if (connection_) return *connection_;
  if (!has_said_hello_) return connect();
  try {
    return connect();
  } catch (const ChildLost&) {
    throw;
  } catch (const Error& error) {
    if (interrupted()) throw;
    throw ChildLost(error.what());
  }
}

Connection& WorkerClient::connect() {
  Connection started = start(program_);
  const Hello hello = read_hello(started, program_);
  if (hello.protocol < kOldestProtocol || hello.oldest > kProtocolVersion) {
    throw Error(
        fmt::format("'{}' ({}) supports versions {} to {} of the protocol, this build {} to {}: "
                    "build both from closer revisions",
                    program_.path, hello.build.revision, hello.oldest, hello.protocol,
                    kOldestProtocol, kProtocolVersion));
  }
  build_ = hello.build;
  has_said_hello_ = true;
  return connection_.emplace(std::move(started));
}

std::string WorkerClient::ask(const std::string& line) {
  try {
    const Connection& worker = connection();
    worker.write_line(line, program_.time_limit_s);
    return worker.read_line(program_.time_limit_s);
  } catch (const ChildLost&) {
    connection_.reset();
    throw;
  }
}

template <class Parse>
auto WorkerClient::parsed(const std::string& answer, Parse parse) {
  try {
    return parse(answer);
  } catch (const WorkerError&) {
    throw;
  } catch (const Error& error) {
    connection_.reset();  // later lines of this worker belong to no request
    constexpr std::size_t kLongest = 80;
    throw ChildLost(fmt::format("'{}' gave an answer that cannot be read: {}; it answered '{}'",
                                program_.path, error.what(), excerpt(answer, kLongest)));
  }
}

const BuildInfo& WorkerClient::build() {
  connection();
  return build_;
}

std::vector<ListedCase> WorkerClient::list(const CaseSelection& selection) {
  return parsed(ask(list_line(selection)), parse_listed);
}

OpenReply WorkerClient::open(const OpenRequest& request) {
  OpenReply reply = parsed(ask(open_line(request)), parse_opened);
  if (reply.id != request.id && key_of_id(reply.id) != request.key) {
    constexpr std::size_t kLongest = 200;
    refuse(fmt::format("for the case '{}'", excerpt(reply.id, kLongest)),
           fmt::format("'{}'", excerpt(request.id, kLongest)));
  }
  return reply;
}

// A call cannot take longer than its answer, except for the rounding of clocks.
Sampled WorkerClient::sample(std::string_view variant, std::uint64_t layout) {
  const double start_s = now_s();
  Sampled sampled = parsed(ask(sample_line(variant, layout)), parse_sampled);
  const double passed_us = 1e6 * (now_s() - start_s);
  if (sampled.us > 1.01 * passed_us) {
    refuse(fmt::format("{:.3g} us for a call of {}", sampled.us, variant),
           fmt::format("at most {:.3g} us, in which the answer came", passed_us));
  }
  return sampled;
}

void WorkerClient::restart() {
  // The first bad end already fails the check.
  const bool is_asked = bad_end_.empty() && !interrupted();
  if (connection_ && connection_->finish && is_asked) {
    bad_end_ = connection_->finish(std::min(kEndSeconds, program_.time_limit_s));
  }
  connection_.reset();
}

void WorkerClient::refuse(const std::string& answered, const std::string& allowed) {
  connection_.reset();
  throw ChildLost(fmt::format("'{}' answered {}; allowed is {}", program_.path, answered, allowed));
}

double WorkerClient::now_s() const {
  if (program_.now_s) return program_.now_s();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CodeReply WorkerClient::code(std::string_view variant) {
  try {
    return parsed(ask(code_line(variant)), parse_coded);
  } catch (const WorkerError& error) {
    return {"", error.what()};
  }
}

void WorkerClient::close() {
  if (connection_) parsed(ask(close_line()), parse_closed);
}

}  // namespace opbench::check
