#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/worker_client.h"
#include "workers/process.h"

namespace opbench::check {

/// The only case of most scripted builds.
inline const std::string kCase = "relu[64]";

/// Describes the sample that a scripted worker takes.
struct ScriptedSample {
  int process;  ///< number of the worker, from 1
  int number;   ///< number of the sample of this variant in that process, from 0
};

/// Samples that all take `us`.
inline std::function<double(ScriptedSample)> always(double us) {
  return [us](ScriptedSample) { return us; };
}

/// Rounds of times between `us` divided by and multiplied with e^0.3, one process after the other.
inline std::function<double(ScriptedSample)> noisy(double us) {
  return [us](ScriptedSample s) { return us * std::exp(s.process % 2 == 0 ? 0.3 : -0.3); };
}

struct ScriptedVariant {
  OpenedVariant opened;
  /// The time of a sample. An exception is a fault of the worker: ChildLost is a crash or a hang,
  /// Error an answer with an error message.
  std::function<double(ScriptedSample)> us;
  /// Error in the results of a sample; none: correct.
  std::function<std::string(ScriptedSample)> wrong = {};
  /// Returns the time of a first call. Empty: as `us`.
  std::function<double(ScriptedSample)> first_us = {};
  /// Results of a call after a sample, on the verified values; none: unknown.
  std::function<std::string(ScriptedSample)> results = {};
};

/// A build that answers from a script in place of a process, with invented times. By default a
/// sample takes 20 ms and opening a case 100 ms, on a clock that moves only then.
class ScriptedBuild {
 public:
  /// `clock_s` and `log` may be shared by builds. The log has the name of each sample's build.
  ScriptedBuild(std::string name, double& clock_s, std::string& log)
      : name_(std::move(name)), clock_s_(clock_s), log_(log) {}

  /// Lists a case. Its variants are those of the last case of that id.
  void add_case(ListedCase listed, std::vector<ScriptedVariant> variants) {
    variants_[listed.id] = std::move(variants);
    listed_.push_back(std::move(listed));
  }
  /// Adds a case of one variant "v" that passes and always takes `us`.
  void add_case(const std::string& id, std::function<double(ScriptedSample)> us) {
    add_case(listed_case(id), {passing("v", std::move(us))});
  }
  static ListedCase listed_case(const std::string& id) { return {id, id, "", 1, {}, {}}; }
  static ScriptedVariant passing(std::string name, std::function<double(ScriptedSample)> us) {
    return {{std::move(name), Status::passed, "", Accuracy{2, 0.5, 1e-7}, "00"}, std::move(us)};
  }

  double open_seconds = 0.1, sample_seconds = 0.02;
  /// The error that answers every request for a list of cases. Empty: the cases are listed.
  std::string list_error;
  /// Fingerprint of the machine code of every variant; empty: the request is unknown.
  std::string code;
  bool knows_first_calls = true;
  /// Fault of the end of each of its workers; empty: they end well.
  std::string end;
  Hello hello{kProtocolVersion, kOldestProtocol, {"1", "rev", "c", "f", "Release"}};

  WorkerProgram program() {
    WorkerProgram program;
    program.path = name_;
    program.connect = [this] { return connect(); };
    return program;
  }

  int processes() const { return processes_; }
  /// Number of samples of the variant in all.
  int samples(const std::string& id, const std::string& variant) const {
    const auto found = samples_.find({id, variant});
    return found == samples_.end() ? 0 : found->second;
  }
  const std::vector<OpenRequest>& opened() const { return opened_; }
  /// Number of samples that were first calls.
  int first_calls() const { return first_calls_; }
  /// Layout of each sample.
  const std::vector<std::uint64_t>& layouts() const { return layouts_; }

 private:
  struct Worker {
    int process = 0;
    std::string answer, open_case;
    bool first_call = false;
    std::map<std::string, int> numbers;  ///< number of samples by variant
  };

  Connection connect() {
    const auto worker = std::make_shared<Worker>();
    worker->process = ++processes_;
    worker->answer = hello_line(hello);
    return {[this, worker](const std::string& line, double) { answer(*worker, line); },
            [worker](double) { return std::exchange(worker->answer, {}); },
            [this](double) { return end; }};
  }

  void answer(Worker& worker, const std::string& line) {
    const Request request = parse_request(line);
    try {
      worker.answer = answer_to(worker, request);
    } catch (const ChildLost&) {
      throw;
    } catch (const Error& error) {
      worker.answer = error_line(error.what());
    }
  }

  std::string answer_to(Worker& worker, const Request& request) {
    switch (request.kind) {
      case Request::list:
        return list_error.empty() ? listed_line(listed_) : error_line(list_error);
      case Request::open:
        return opened_line(open(worker, request.open_it));
      case Request::sample:
        layouts_.push_back(request.layout);
        return sampled_line(sample(worker, request.variant));
      case Request::code:
        return code.empty() ? error_line("unknown request 'code'") : coded_line({code, ""});
      case Request::close:
        worker.open_case.clear();
    }
    return closed_line();
  }

  OpenReply open(Worker& worker, const OpenRequest& request) {
    opened_.push_back(request);
    clock_s_ += open_seconds;
    if (!variants_.contains(request.id)) throw Error("no such case");
    worker.open_case = request.id;
    worker.numbers.clear();
    worker.first_call = request.first_call && knows_first_calls;
    OpenReply reply{request.id, {}, worker.first_call};
    for (const ScriptedVariant& variant : variants_.at(request.id)) {
      OpenedVariant opened = variant.opened;
      const bool was_timed = opened.status == Status::passed;
      if (!request.verify && was_timed) opened = {opened.name, Status::unverified, "", {}};
      reply.variants.push_back(std::move(opened));
    }
    return reply;
  }

  Sampled sample(Worker& worker, const std::string& name) {
    clock_s_ += sample_seconds;
    log_ += name_[0];
    ++samples_[{worker.open_case, name}];
    for (const ScriptedVariant& variant : variants_.at(worker.open_case)) {
      if (variant.opened.name != name) continue;
      const ScriptedSample which{worker.process, worker.numbers[name]++};
      const bool is_first = worker.first_call && variant.first_us;
      first_calls_ += worker.first_call;
      return {is_first ? variant.first_us(which) : variant.us(which),
              variant.wrong ? variant.wrong(which) : std::string(),
              variant.results ? variant.results(which) : std::string()};
    }
    throw Error("no variant '" + name + "'");
  }

  std::string name_;
  double& clock_s_;
  std::string& log_;
  std::vector<ListedCase> listed_;
  std::map<std::string, std::vector<ScriptedVariant>> variants_;
  std::map<std::pair<std::string, std::string>, int> samples_;
  std::vector<OpenRequest> opened_;
  std::vector<std::uint64_t> layouts_;
  int processes_ = 0, first_calls_ = 0;
};

}  // namespace opbench::check
