#include "cli/result_file.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <ostream>

#include "tensor/error.h"

namespace opbench {

bool is_standard_output(const std::string& path) { return path == "-"; }

void refuse_standard_output(std::string_view flag, const std::string& path, std::string_view writes,
                            std::string_view instead) {
  if (!is_standard_output(path)) return;
  throw Error(fmt::format("{} writes {}, which cannot go to standard output; name {}", flag, writes,
                          instead));
}

bool has_reader_gone() {
  pollfd stream{STDOUT_FILENO, 0, 0};
  return poll(&stream, 1, 0) == 1 && (stream.revents & POLLERR) != 0;
}

ResultFile::ResultFile(const std::string& path, CommandContext& context) : context_(context) {
  if (is_standard_output(path)) {
    standard_output_ = context_.out.rdbuf(context_.err.rdbuf());
  } else {
    file_.emplace(path);
  }
}

void ResultFile::write(const std::function<void(std::ostream&)>& content) {
  if (file_) return file_->write(content);
  std::ostream out(standard_output_);
  content(out);
  out.flush();
  if (out) return;
  if (!has_reader_gone()) throw RunError("cannot write to standard output");
  context_.out.setstate(std::ios::badbit);  // which the program's end looks at
}

}  // namespace opbench
