// opbench with kernels that are slow, wrong, crash or hang, as selected by the environment. Tests
// use it to check how opbench handles such kernels.
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "harness/check/protocol.h"
#include "opbench/run.h"
#include "tensor/error.h"
#include "tests/lab/faults.h"
#include "text/program.h"

namespace opbench::lab {
namespace {

bool is_request_for_sample(const std::string& line) {
  try {
    return check::parse_request(line).kind == check::Request::sample;
  } catch (const Error&) {
    return false;  // the worker reports the error
  }
}

/// The requests to a worker. The faults use them to know its next action.
class Requests : public std::streambuf {
 public:
  explicit Requests(std::streambuf& source) : source_(source) {}

 protected:
  int_type underflow() override {
    line_.clear();
    for (int_type next = source_.sbumpc(); next != traits_type::eof(); next = source_.sbumpc()) {
      line_ += traits_type::to_char_type(next);
      if (line_.back() == '\n') break;
    }
    if (line_.empty()) return traits_type::eof();
    set_sampling(is_request_for_sample(line_));
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(line_.front());
  }

 private:
  std::streambuf& source_;
  std::string line_;
};

}  // namespace
}  // namespace opbench::lab

int main(int argc, char** argv) {
  using namespace opbench;
  try {
    lab::plant(lab::faults_of_environment());
  } catch (const Error& error) {
    std::cerr << "opbench_faulty: " << error.what() << '\n';
    return kBadInput;
  }
  if (argc < 2 || std::string_view(argv[1]) != "worker") return run_program(argc, argv);
  lab::Requests requests(*std::cin.rdbuf());
  std::streambuf* const input = std::cin.rdbuf(&requests);
  const int code = run_program(argc, argv);
  std::cin.rdbuf(input);
  return code;
}
