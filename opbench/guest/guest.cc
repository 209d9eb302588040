#include "opbench/guest/guest.h"

#include <new>
#include <utility>

namespace opbench::guest {
namespace {

constexpr int kProtocolMajor = 1, kProtocolMinor = 0;

}  // namespace

Guest::Guest(std::string file, std::vector<Mapping> mappings)
    : file_(std::move(file)), mappings_(std::move(mappings)) {}

std::string Guest::answer(const std::string& line) {
  Json result;
  try {
    result = answer_to(Json::parse(line));
  } catch (const Refusal& refusal) {
    result = {{"refused", refusal.what()}};
  } catch (const std::bad_alloc&) {
    result = {
        {"error", "it got no more memory; a kernel may take three quarters of the machine's"}};
  } catch (const std::exception& error) {
    result = {{"error", error.what()}};
  } catch (...) {
    result = {{"error", "the library threw an object of an unknown type"}};
  }
  return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Guest::answer_to(const Json& message) {
  memory_.grow(message.value("memory", std::size_t(0)));
  const std::string what = message.at("do").get<std::string>();
  if (what == "describe") return describe(message);
  if (what == "open") return open(message);
  if (what == "call") return call(session_of(message));
  if (what == "load") {
    session_of(message).session->load();
    if (message.value("cold", false)) return make_cold();
  } else if (what == "fetch") {
    session_of(message).session->fetch();
  } else if (what == "close") {
    // No error for an unknown session: opbench measures the time of an answer with it.
    sessions_.erase(message.at("session").get<std::int64_t>());
  } else {
    throw GuestError("'" + what + "' is unknown; one of describe, open, load, call, fetch, close");
  }
  return Json::object();
}

Json Guest::describe(const Json& message) {
  const int major = message.at("protocol").at(0).get<int>();
  if (major != kProtocolMajor)
    throw GuestError("the protocol has version " + std::to_string(major) +
                     ".x, allowed: " + std::to_string(kProtocolMajor) +
                     ".x; opbench and opbench_guest are of different releases");
  if (!library_) library_ = load_library(file_, mappings_);
  Json answer = {{"protocol", {kProtocolMajor, kProtocolMinor}}};
  answer.update(library_->describe());
  is_cpu_ = answer.at("device_type") == 1;
  return answer;
}

Json Guest::open(const Json& message) {
  if (!library_) throw GuestError("`open` came before `describe`");
  const auto id = message.at("session").get<std::int64_t>();
  if (sessions_.count(id) > 0) throw GuestError("session " + std::to_string(id) + " is open");
  if (!message.contains("kernel")) throw GuestError("`open` has no kernel");
  Open opened;
  opened.session = library_->open(message.at("kernel").get<std::size_t>(),
                                  Use(message, memory_.bytes()), memory_.data());
  sessions_.emplace(id, std::move(opened));
  return Json::object();
}

Json Guest::make_cold() {
  if (library_->evict()) return Json::object();
  if (!is_cpu_) return {{"note", "the device's caches are not emptied: the library has no evict"}};
  empty_caches();
  return Json::object();
}

Json Guest::call(Open& open) {
  std::string note;
  const int threads_before = open.was_called ? 0 : thread_count();
  const std::int64_t begin = clock_.nanoseconds();
  const double device_seconds = open.session->call();
  const std::int64_t end = clock_.nanoseconds();
  Json answer = {{"seconds", double(end - begin) * 1e-9}};
  if (device_seconds >= 0) answer["device_seconds"] = device_seconds;
  const int threads = open.was_called ? 0 : thread_count() - threads_before;
  if (threads > 0)
    note =
        "leaves " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") + " behind";
  open.was_called = true;
  if (!note.empty()) answer["note"] = note;
  return answer;
}

Guest::Open& Guest::session_of(const Json& message) {
  const auto id = message.at("session").get<std::int64_t>();
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) throw GuestError("session " + std::to_string(id) + " is not open");
  return found->second;
}

}  // namespace opbench::guest
