#include "dump/arrays/zip_file.h"

#include <fmt/format.h>
#include <minizip/unzip.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

constexpr std::size_t kMostMembers = 1 << 20;
constexpr std::size_t kSkipAtOnce = 64 << 10;  // bytes

// Input of the zip library. A short read becomes an error there. The library reads headers byte by
// byte, so the bytes that follow are buffered.
struct ZipInput {
  static constexpr std::size_t kKept = 4096;  // bytes

  void read(std::size_t count, char* to) {
    if (count >= kKept) return file->read(place, count, to);
    const std::int64_t inside = place - from;
    if (inside < 0 || inside + static_cast<std::int64_t>(count) > std::ssize(kept)) {
      const auto left = static_cast<std::size_t>(file->bytes() - place);
      std::vector<char> next(std::min(kKept, left));
      file->read(place, next.size(), next.data());
      kept = std::move(next);
      from = place;
    }
    std::copy_n(kept.data() + (place - from), count, to);
  }

  const RegularFile* file;
  std::int64_t place = 0;
  std::vector<char> kept = {};
  std::int64_t from = 0;  // offset in the file of the first byte in `kept`
};

voidpf open_zip_input(voidpf opaque, const void*, int) { return opaque; }

uLong read_zip_input(voidpf, voidpf handle, void* to, uLong count) {
  ZipInput& stream = *static_cast<ZipInput*>(handle);
  const std::int64_t left = std::max<std::int64_t>(0, stream.file->bytes() - stream.place);
  const std::size_t wanted = std::min<std::size_t>(count, static_cast<std::size_t>(left));
  try {
    stream.read(wanted, static_cast<char*>(to));
  } catch (const Error&) {
    return 0;
  }
  stream.place += static_cast<std::int64_t>(wanted);
  return wanted;
}

ZPOS64_T tell_zip_input(voidpf, voidpf handle) {
  return static_cast<ZPOS64_T>(static_cast<ZipInput*>(handle)->place);
}

long seek_zip_input(voidpf, voidpf handle, ZPOS64_T offset, int origin) {
  ZipInput& stream = *static_cast<ZipInput*>(handle);
  const std::int64_t from = origin == SEEK_SET   ? 0
                            : origin == SEEK_CUR ? stream.place
                                                 : stream.file->bytes();
  const auto to = static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + offset);
  if (to < 0 || to > stream.file->bytes()) return -1;
  stream.place = to;
  return 0;
}

int close_zip_input(voidpf, voidpf) { return 0; }
int error_of_zip_input(voidpf, voidpf) { return 0; }

struct CloseZip {
  void operator()(voidp file) const { unzClose(file); }
};

}  // namespace

struct ZipFile::Impl {
  explicit Impl(const RegularFile& opened) : file(opened), stream{&opened} {
    zlib_filefunc64_def functions{};
    functions.zopen64_file = open_zip_input;
    functions.zread_file = read_zip_input;
    functions.ztell64_file = tell_zip_input;
    functions.zseek64_file = seek_zip_input;
    functions.zclose_file = close_zip_input;
    functions.zerror_file = error_of_zip_input;
    functions.opaque = &stream;
    zip.reset(unzOpen2_64(file.name().c_str(), &functions));
    if (!zip) fail("not a .zip file, or its end is missing");
    list();
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("{}: {}", file.name(), reason));
  }
  [[noreturn]] void fail(const ZipMember& member, const std::string& reason) const {
    fail(fmt::format("member '{}': {}", printable(member.name), reason));
  }

  void list() {
    unz_global_info64 info{};
    if (unzGetGlobalInfo64(zip.get(), &info) != UNZ_OK) fail("its directory is damaged");
    if (info.number_entry > kMostMembers) {
      fail(fmt::format("{} members, at most {} are allowed", info.number_entry, kMostMembers));
    }
    int state = info.number_entry == 0 ? UNZ_END_OF_LIST_OF_FILE : unzGoToFirstFile(zip.get());
    while (state == UNZ_OK) {
      add_member();
      state = unzGoToNextFile(zip.get());
    }
    if (state != UNZ_END_OF_LIST_OF_FILE || members.size() != info.number_entry) {
      fail(fmt::format("its directory is damaged after {} of {} members", members.size(),
                       info.number_entry));
    }
    sums.resize(members.size());
  }

  void add_member() {
    constexpr uLong kLongestName = 4096;
    unz_file_info64 info{};
    std::string name(kLongestName, '\0');
    if (unzGetCurrentFileInfo64(zip.get(), &info, name.data(), kLongestName, nullptr, 0, nullptr,
                                0) != UNZ_OK) {
      fail(fmt::format("its directory is damaged after {} members", members.size()));
    }
    name.resize(std::min(info.size_filename, kLongestName));
    ZipMember member;
    member.name = std::move(name);
    member.sum = static_cast<std::uint32_t>(info.crc);
    unz64_file_pos place{};
    unzGetFilePos64(zip.get(), &place);
    describe(info, member);
    members.push_back(std::move(member));
    places.push_back(place);
  }

  void describe(const unz_file_info64& info, ZipMember& member) {
    constexpr uLong kEncrypted = 1;
    const auto file_bytes = static_cast<ZPOS64_T>(file.bytes());
    if ((info.flag & kEncrypted) != 0) {
      member.problem = "it is encrypted";
    } else if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) {
      member.problem = fmt::format("compression method {}; allowed are 0 (stored) and 8 (deflate)",
                                   info.compression_method);
    } else if (info.compressed_size > file_bytes || info.uncompressed_size > INT64_MAX) {
      member.problem =
          fmt::format("size: {} bytes in a file of {}", info.compressed_size, file.bytes());
    } else if (unzOpenCurrentFile(zip.get()) != UNZ_OK) {
      member.problem = "its header is damaged";
    }
    if (!member.problem.empty()) return;
    const ZPOS64_T offset = unzGetCurrentFileZStreamPos64(zip.get());
    unzCloseCurrentFile(zip.get());
    member.bytes = static_cast<std::int64_t>(info.uncompressed_size);
    if (offset > file_bytes || info.compressed_size > file_bytes - offset) {
      member.problem = fmt::format("cut: {} bytes at {} in a file of {}", info.compressed_size,
                                   offset, file.bytes());
    } else if (info.compression_method == 0) {
      if (info.compressed_size != info.uncompressed_size) member.problem = "its sizes differ";
      member.offset = static_cast<std::int64_t>(offset);
    }
  }

  // Reads bytes of a packed member. `mutex` must be locked.
  void unpack(std::size_t index, std::int64_t offset, std::size_t count, void* to) {
    const ZipMember& member = members[index];
    if (current != static_cast<std::int64_t>(index) || next > offset) {
      if (current >= 0) unzCloseCurrentFile(zip.get());
      current = -1;
      if (unzGoToFilePos64(zip.get(), &places[index]) != UNZ_OK ||
          unzOpenCurrentFile(zip.get()) != UNZ_OK) {
        fail(member, "its header is damaged");
      }
      current = static_cast<std::int64_t>(index);
      next = 0;
    }
    std::vector<char> skipped(
        std::min<std::size_t>(kSkipAtOnce, static_cast<std::size_t>(offset - next)));
    while (next < offset) {
      unpack_next(member, skipped.data(),
                  std::min(skipped.size(), static_cast<std::size_t>(offset - next)));
    }
    unpack_next(member, to, count);
  }

  void unpack_next(const ZipMember& member, void* to, std::size_t count) {
    constexpr std::size_t kMostBytesAtOnce = 1 << 30;  // fits an int
    auto* bytes = static_cast<char*>(to);
    while (count > 0) {
      const int got = unzReadCurrentFile(zip.get(), bytes,
                                         static_cast<unsigned>(std::min(count, kMostBytesAtOnce)));
      if (got <= 0) {
        unzCloseCurrentFile(zip.get());
        current = -1;
        fail(member, fmt::format("damaged or cut after {} of {} bytes", next, member.bytes));
      }
      bytes += got;
      count -= static_cast<std::size_t>(got);
      next += got;
    }
    if (next < member.bytes) return;
    current = -1;
    if (unzCloseCurrentFile(zip.get()) == UNZ_CRCERROR && has_sums) fail_sum(member);
  }

  [[noreturn]] void fail_sum(const ZipMember& member) const {
    fail(member, "damaged: its data does not give its CRC-32");
  }

  // Updates the CRC of a stored member that is read from its start without gaps.
  void add_to_sum(std::size_t index, std::int64_t offset, std::size_t count, const void* bytes) {
    Sum sum;
    {
      const std::lock_guard lock(mutex);
      if (offset == 0) sums[index] = {};
      if (sums[index].next != offset) return;
      sum = sums[index];
    }
    sum.value =
        static_cast<std::uint32_t>(crc32_z(sum.value, static_cast<const Bytef*>(bytes), count));
    sum.next += static_cast<std::int64_t>(count);
    {
      const std::lock_guard lock(mutex);
      if (sums[index].next == offset) sums[index] = sum;
    }
    const ZipMember& member = members[index];
    if (sum.next == member.bytes && sum.value != member.sum) fail_sum(member);
  }

  struct Sum {
    std::int64_t next = 0;
    std::uint32_t value = 0;
  };

  const RegularFile& file;
  ZipInput stream;
  std::unique_ptr<void, CloseZip> zip;
  std::vector<ZipMember> members;
  std::vector<unz64_file_pos> places;
  bool has_sums = true;
  std::mutex mutex;           // guards `zip` and the members below
  std::vector<Sum> sums;      // of stored members
  std::int64_t current = -1;  // the member being unpacked
  std::int64_t next = 0;      // offset of its next byte
};

ZipFile::ZipFile(const RegularFile& file) : impl_(std::make_unique<Impl>(file)) {}
ZipFile::~ZipFile() = default;

const std::vector<ZipMember>& ZipFile::members() const { return impl_->members; }

void ZipFile::ignore_sums() { impl_->has_sums = false; }

void ZipFile::read(std::size_t member, std::int64_t offset, std::size_t count, void* to) {
  const ZipMember& read = impl_->members.at(member);
  if (!read.problem.empty()) impl_->fail(read, read.problem);
  if (offset < 0 || offset > read.bytes ||
      count > static_cast<std::uint64_t>(read.bytes - offset)) {
    impl_->fail(read,
                fmt::format("{} bytes at {} are requested, it has {}", count, offset, read.bytes));
  }
  if (count == 0) return;
  if (read.offset < 0) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->unpack(member, offset, count, to);
  }
  impl_->file.read(read.offset + offset, count, to);
  if (impl_->has_sums) impl_->add_to_sum(member, offset, count, to);
}

}  // namespace opbench
