// The work of the reading process, in this process: lists a file and serves its data, with the
// requests of DumpFile.
//
// libhdf5 itself fails on damaged files: it allocates absurd sizes, leaks and, rarely, crashes.
// -fork=1 -ignore_crashes=1 continues after these. Only a crash with a frame of opbench on top is a
// finding.

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <thread>

#include "dump/catalogue.h"
#include "dump/hdf5/server.h"
#include "tests/fuzz/fuzz.h"
#include "workers/message_socket.h"

// libhdf5 is not compiled with the sanitizer, so its copies, leaks and allocations are not checked.
extern "C" const char* __asan_default_suppressions() { return "interceptor_via_lib:libhdf5\n"; }
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:detect_leaks=0";
}

namespace opbench {
namespace {

constexpr std::int64_t kMostElements = 1 << 20;

Message answer(MessageSocket& socket) {
  Message message;
  require(socket.receive(message), "every request is answered", "");
  if (message.kind == MessageKind::problem) require_one_line(message.bytes);
  return message;
}

void read_entry(MessageSocket& socket, const DumpEntry& entry) {
  require_one_line(entry.problem);
  require_one_line(entry.warning);
  if (!entry.problem.empty()) return;
  const std::int64_t count = entry.desc.elements();
  if (count > kMostElements) return;
  socket.send(MessageKind::request, hdf5::encode_request(entry, {0, count}));
  // A name that occurs twice in a damaged group may lead to other data, which ReaderProcess
  // refuses.
  const Message message = answer(socket);
  require(message.kind == MessageKind::problem || message.kind == MessageKind::data,
          "a request is answered with data or a problem", entry.path);
}

void read_dump(MessageSocket& socket, std::int64_t file_bytes) {
  Catalogue catalogue;
  for (MessageKind kind = MessageKind::catalogue_part; kind != MessageKind::catalogue;) {
    const Message message = answer(socket);
    kind = message.kind;
    if (kind == MessageKind::problem) return;
    append(catalogue, decode_catalogue(message.bytes, file_bytes));
  }
  for (const std::string& problem : catalogue.problems) require_one_line(problem);
  for (const DumpRecord& record : catalogue.records) {
    for (const DumpEntry& entry : record.entries) read_entry(socket, entry);
  }
  for (const DumpEntry& entry : catalogue.strays) read_entry(socket, entry);
}

}  // namespace
}  // namespace opbench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fs = std::filesystem;
  static const std::string path =
      (fs::temp_directory_path() / ("dump_file_fuzz." + std::to_string(getpid()))).string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  std::thread server([end = ends[1]] {
    opbench::MessageSocket theirs(end);
    opbench::hdf5::serve(theirs, path, "x.h5", true);
  });
  {
    opbench::MessageSocket ours(ends[0]);
    opbench::succeeds([&] { opbench::read_dump(ours, static_cast<std::int64_t>(size)); });
  }
  server.join();
  fs::remove(path);
  return 0;
}
