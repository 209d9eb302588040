#include "kernels/foreign/session.h"

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>
#include <variant>

#include "kernels/call_clock.h"
#include "tensor/buffer.h"
#include "tensor/elements.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/utf8.h"
#include "workers/elapsed.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAlignment = 64;       // bytes; a cache line
constexpr std::int64_t kGrain = 256 * 1024;  // bytes; fewer do not repay waking a thread
constexpr std::size_t kLongestNote = 200;    // bytes

// Above this time between request and answer that the guest does not state, the guest's clock is
// not trusted. A scheduler's delay is counted then, as for every other variant.
constexpr double kOverheads = 4;  // times the usual overhead of a request
constexpr double kSlack = 20e-6;  // seconds
// The guest in Python examines results and threads after each call: 60 to 120 us on Zen 4.
constexpr double kSlackOfPython = 200e-6;  // seconds
constexpr double kSlackShare = 0.05;       // of the call; a scheduler's tick in a call of 80 ms
constexpr int kFewCalls = 4;               // too few to tell a delay from a wrong clock
// A device's events leave out the launch. A launch takes 5 to 500 us on GPUs and NPUs.
constexpr double kLongestLaunch = 2e-3;  // seconds
constexpr double kLaunchShare = 0.5;     // of the host's time; work of several streams overlaps
constexpr double kLeastWork = 200e-6;    // seconds that a call may leave to `fetch`

using Time = std::chrono::steady_clock::time_point;

void copy(void* to, const void* from, std::size_t bytes) {
  parallel_ranges(static_cast<std::int64_t>(bytes), kGrain,
                  [=](std::int64_t begin, std::int64_t end) {
                    std::memcpy(static_cast<std::byte*>(to) + begin,
                                static_cast<const std::byte*>(from) + begin,
                                static_cast<std::size_t>(end - begin));
                  });
}

bool is_equal(const void* a, const void* b, std::size_t bytes) {
  std::atomic<bool> equal = true;
  parallel_ranges(static_cast<std::int64_t>(bytes), kGrain,
                  [&](std::int64_t begin, std::int64_t end) {
                    if (std::memcmp(static_cast<const std::byte*>(a) + begin,
                                    static_cast<const std::byte*>(b) + begin,
                                    static_cast<std::size_t>(end - begin)) != 0)
                      equal = false;
                  });
  return equal;
}

int next_number() {
  static int number = 0;
  return ++number;
}

TensorDesc dense(TensorDesc desc) {
  desc.format = desc.origin;
  return desc;
}

Json value_of(const AttrValue& value) {
  return std::visit(
      [&](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>) {
          if (!std::isfinite(held)) return to_string(value);
        }
        return held;
      },
      value);
}

}  // namespace

Json json_of(const Op& op, const Attrs& attrs) {
  Json all = Json::object();
  for (const AttrSpec& spec : op.attrs) {
    const std::string name(spec.name);
    all[name] = value_of(attrs.values().at(name));
  }
  return all;
}

Session::Session(Guest& guest, const Problem& problem, Use use)
    : guest_(guest),
      problem_(problem),
      use_(std::move(use)),
      threads_(thread_count()),
      number_(next_number()) {
  const Op& op = *problem.op;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) add(problem.inputs[i], op.input_name(i));
  for (std::size_t i = 0; i < problem.outputs.size(); ++i)
    add(problem.outputs[i], op.output_name(problem, i));
  block_ = guest_.memory().take(bytes_);
  for (const Place& place : places_) write_guards(at(place), place.bytes);
  open();
}

Session::~Session() {
  try {
    if (opened_for_ == guest_.starts()) ask("close");
  } catch (const Error&) {
    // The guest has ended, or the run is interrupted.
  }
}

void Session::add(const TensorDesc& desc, std::string name) {
  const std::size_t begin =
      (bytes_ + Buffer::kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t bytes = use_.is_expression ? dense(desc).bytes() : desc.bytes();
  places_.push_back({desc, std::move(name), begin, bytes});
  bytes_ = begin + bytes + Buffer::kGuardBytes;
}

Json Session::listed(std::size_t first, std::size_t count) const {
  Json all = Json::array();
  for (std::size_t i = first; i < first + count; ++i) {
    const auto& [desc, tensor, offset, bytes] = places_[i];
    all.push_back({{"name", tensor},
                   {"dtype", name(desc.dtype)},
                   {"format", name(desc.format)},
                   {"shape", desc.shape},
                   {"storage", use_.is_expression ? desc.shape : desc.storage()},
                   {"at", block_.offset() + offset}});
  }
  return all;
}

void Session::open() {
  guest_.ensure_started();
  Json request = {{"do", "open"}, {"session", number_}, {"op", problem_.op->name}};
  request.update(use_.members);
  const std::size_t inputs = problem_.inputs.size();
  request["inputs"] = listed(0, inputs);
  request["outputs"] = listed(inputs, problem_.outputs.size());
  if (!request.contains("attrs")) request["attrs"] = json_of(*problem_.op, problem_.attrs);
  request["threads"] = threads_;
  request["memory"] = guest_.memory().bytes();
  const Json answer = guest_.ask(request);
  if (const auto refused = answer.find("refused"); refused != answer.end() && refused->is_string())
    throw RefusedValues(printable(refused->get<std::string>()));
  opened_for_ = guest_.starts();
  take_note(answer);
}

void Session::take_note(const Json& answer) {
  const auto note = answer.find("note");
  if (note != answer.end() && note->is_string())
    note_ = printable(note->get<std::string>().substr(0, kLongestNote));
}

Json Session::ask(const char* what) {
  Json answer = guest_.ask({{"do", what}, {"session", number_}});
  take_note(answer);
  return answer;
}

bool Session::is_converted(const Place& place) const {
  return use_.is_expression && place.desc.format != place.desc.origin;
}

void Session::put(const Place& place, const void* storage) const {
  if (is_converted(place))
    read_elements(place.desc, storage, {0, place.desc.elements()}, at(place));
  else
    copy(at(place), storage, place.bytes);
}

void Session::get(const Place& place, void* storage) const {
  if (is_converted(place))
    write_elements(place.desc, storage, {0, place.desc.elements()}, at(place));
  else
    copy(storage, at(place), place.bytes);
}

void Session::check_guards() const {
  for (const Place& place : places_) {
    if (guards_intact(at(place), place.bytes)) continue;
    write_guards(at(place), place.bytes);
    throw Error(fmt::format("{}: it wrote beyond the bounds of {}", guest_.name(), place.name));
  }
}

void Session::check_inputs(const KernelArgs& args) const {
  if (use_.is_expression) return;
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    const Place& place = places_[i];
    if (is_equal(at(place), args.inputs[i], place.bytes)) continue;
    throw Error(fmt::format("{}: it changed its input {}", guest_.name(), place.name));
  }
}

// A device empties its own caches.
void Session::empty_caches() const {
  for (std::size_t i = 0; i < bytes_; i += kAlignment) hwy::FlushCacheline(block_.data() + i);
  hwy::FlushStream();
}

double Session::counted_seconds(const Json& answer, double passed, double& launch) {
  const double stated = seconds_member(answer, "seconds").value_or(0);
  const double left_out = std::max(0.0, passed - stated);
  passed_ += passed;
  left_out_ += left_out;
  ++calls_;
  const double slack = guest_.description().runs_torch ? kSlackOfPython : kSlack;
  if (left_out > kOverheads * guest_.overhead_seconds() + slack + kSlackShare * passed) {
    ++mistrusted_;
    return passed;
  }
  const double host = std::min(stated, passed);
  const std::optional<double> device = seconds_member(answer, "device_seconds");
  const bool is_cpu = guest_.description().device_type == 1;
  if (!device || is_cpu || *device > host || host - *device > kLongestLaunch + kLaunchShare * host)
    return host;
  launch = host - *device;
  return *device;
}

// Returns the seconds of work that calls leave to it, without waiting for the device. In the first
// calls the results are copied twice: the second time there is no work left. By the fastest ones,
// because single calls are delayed by the scheduler.
double Session::fetch() {
  const auto timed = [&](double& least) {
    const Time begin = std::chrono::steady_clock::now();
    ask("fetch");
    least = std::min(least, seconds_since(begin));
  };
  timed(least_fetch_);
  if (guest_.description().runs_torch) return 0;
  if (calls_ < kFewCalls) timed(least_copy_);
  return least_fetch_ - least_copy_;
}

std::string Session::note() const {
  // Single calls are delayed by the scheduler.
  const bool is_wrong = calls_ > kFewCalls && 2 * mistrusted_ > calls_ && left_out_ > passed_ / 4;
  std::string text = note_;
  const auto add = [&](const char* more) {
    text += (text.empty() ? "" : "; ") + std::string(more);
  };
  if (is_wrong) add("its clock leaves out time, opbench's counts");
  if (is_unfinished_) add("does not wait for its work, which counts");
  return text;
}

void Session::call(const KernelArgs& args) {
  const auto start = std::chrono::steady_clock::now();
  if (opened_for_ != guest_.starts()) open();
  const std::size_t inputs = args.inputs.size();
  for (std::size_t i = 0; i < inputs; ++i) put(places_[i], args.inputs[i]);
  // Outputs too: an element that a kernel does not write keeps its value.
  for (std::size_t i = 0; i < args.outputs.size() && !use_.is_expression; ++i)
    put(places_[inputs + i], args.outputs[i]);
  const bool is_cold = takes_cold_call();
  const bool is_device = guest_.description().has_own_memory;
  if (is_device)
    take_note(guest_.ask({{"do", "load"}, {"session", number_}, {"cold", is_cold}}));
  else if (is_cold)
    empty_caches();
  const auto begin = std::chrono::steady_clock::now();
  const Json answer = ask("call");
  const double passed = seconds_since(begin);
  const double unfinished = is_device ? fetch() : 0;
  check_guards();
  check_inputs(args);
  for (std::size_t i = 0; i < args.outputs.size(); ++i) get(places_[inputs + i], args.outputs[i]);
  OutsideSeconds outside;
  double counted = counted_seconds(answer, passed, outside.launch);
  const GuestDescription& guest = guest_.description();
  least_call_ = std::min(least_call_, counted);
  is_unfinished_ = unfinished > std::max(least_call_, kLeastWork);
  if (is_unfinished_) counted += unfinished;
  // A library for this processor may compute in `load` and `fetch`.
  if (is_device && guest.device_type == 1 && !guest.runs_torch)
    counted = std::max(counted, seconds_since(start));
  outside.uncounted = seconds_since(start) - counted;
  add_outside_seconds(outside);
}

}  // namespace opbench
