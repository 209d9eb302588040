#include "dump/hdf5/server.h"

#include <H5Cpp.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <new>

#include "dump/catalogue.h"
#include "dump/hdf5/c_api.h"
#include "dump/hdf5/layout.h"
#include "dump/hdf5/scan.h"
#include "dump/hdf5/stored.h"
#include "tensor/utf8.h"
#include "text/packed.h"
#include "workers/confined.h"

namespace opbench::hdf5 {
namespace {

constexpr std::size_t kCacheBytes = 64 << 10;  // of metadata
constexpr std::size_t kChunkCacheBytes = 64 << 20;
constexpr std::size_t kChunkSlots =
    12'421;  // a prime far above the number of chunks in a row, as H5Pset_chunk_cache advises

class Server {
 public:
  Server(MessageSocket& socket, const std::string& path, const std::string& name)
      : socket_(socket), name_(name), file_(open(path, name)) {}

  void send_catalogue(const std::string& path) {
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
    const auto send_part = [this](const Catalogue& part) {
      socket_.send(MessageKind::catalogue_part, encode(part));
    };
    const ScanHooks hooks{note_progress, send_part};
    const Catalogue catalogue =
        guarded<Error>(name_, [&] { return scan(file_.getId(), bytes, name_, hooks); });
    socket_.send(MessageKind::catalogue, encode(catalogue));
  }

  void answer(const std::string& text) {
    ElementRange places;
    std::string path;
    Unpacker(text).fields(path, places.first, places.count);
    const std::string where = fmt::format("{}: {}", name_, printable(path));
    socket_.send(MessageKind::data, guarded<Error>(where, [&] { return read(path, places); }));
  }

 private:
  static H5::H5File open(const std::string& path, const std::string& name) {
    return guarded<Error>("cannot open " + name, [&] {
      if (!H5::H5File::isHdf5(path)) {
        throw Error(fmt::format(
            "cannot open {}: not an HDF5 file; a dump is .h5, .npy, .npz, .pt, or a folder", name));
      }
      return H5::H5File(path, H5F_ACC_RDONLY, H5::FileCreatPropList::DEFAULT, access());
    });
  }

  // The cache has a fixed size, because every object is visited once. HDF5's adaptive cache size
  // would take half of the time.
  static H5::FileAccPropList access() {
    H5::FileAccPropList access;
    H5AC_cache_config_t cache{};
    cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    checked(H5Pget_mdc_config(access.getId(), &cache));
    cache.set_initial_size = true;
    cache.initial_size = cache.min_size = cache.max_size = kCacheBytes;
    cache.incr_mode = H5C_incr__off;
    cache.flash_incr_mode = H5C_flash_incr__off;
    cache.decr_mode = H5C_decr__off;
    checked(H5Pset_mdc_config(access.getId(), &cache));
    return access;
  }

  // Ranges follow one another, so chunks that are part of several ranges are cached.
  H5::DataSet open_dataset(const std::string& path) const {
    std::size_t cache_bytes = kChunkCacheBytes;
    {
      const ObjectHandle object(H5Oopen(file_.getId(), path.c_str(), inside_access()));
      cache_bytes = std::max(cache_bytes, chunk_bytes(object));
    }
    const ListHandle access(H5Pcreate(H5P_DATASET_ACCESS));
    checked(H5Pset_chunk_cache(access, kChunkSlots, cache_bytes, 1));
    const ObjectHandle dataset(H5Dopen2(file_.getId(), path.c_str(), access));
    return H5::DataSet(dataset);
  }

  std::string read(const std::string& path, ElementRange places) {
    if (path != open_path_) {
      open_path_.clear();
      dataset_ = open_dataset(path);
      open_path_ = path;
    }
    const Dims shape = extents_of(dataset_.getId());
    const TypeHandle stored_as(H5Dget_type(dataset_.getId()));
    const StoredType stored = stored_elements(stored_as).type;
    std::string elements(static_cast<std::size_t>(places.count) * size_of(stored), '\0');
    if (stored == StoredType::boolean) {
      read_range(dataset_, shape, places, dataset_.getDataType(), elements.data());
    } else {
      read_range(dataset_, shape, places, memory_type(stored), elements.data());
    }
    return elements;
  }

  MessageSocket& socket_;
  const std::string& name_;
  H5::H5File file_;
  std::string open_path_;  // path of the open dataset; a tensor is read in many ranges
  H5::DataSet dataset_;
};

}  // namespace

bool report_problems(MessageSocket& socket, MessageKind of_memory,
                     const std::function<void()>& work) noexcept {
  const ErrorCapture quiet;
  try {
    work();
    return true;
  } catch (const RunError& error) {
    socket.send(MessageKind::failure, error.what());
  } catch (const std::bad_alloc&) {
    socket.send(of_memory, "out of memory");
  } catch (const std::exception& error) {
    socket.send(MessageKind::problem, error.what());
  } catch (const H5::Exception& error) {
    socket.send(MessageKind::problem, printable(error.getDetailMsg()));
  }
  return false;
}

void serve(MessageSocket& socket, const std::string& path, const std::string& name,
           bool lists) noexcept {
  // HDF5 allocates and frees a buffer for each compressed chunk. By default glibc returns chunks of
  // megabytes to the system each time, and the kernel clears their pages again: 15 % of the time to
  // read them. 32 MiB is the largest threshold that glibc accepts.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, int{kChunkCacheBytes});
  // In a damaged file, declared sizes may exceed the memory.
  constexpr MessageKind kOfMemory = MessageKind::problem;
  report_problems(socket, kOfMemory, [&] {
    Server server(socket, path, name);
    if (lists) server.send_catalogue(path);
    Message message;
    while (socket.receive(message) && message.kind == MessageKind::request) {
      report_problems(socket, kOfMemory, [&] { server.answer(message.bytes); });
    }
  });
}

std::string encode_request(const DumpEntry& entry, ElementRange places) {
  return pack_all(entry.path, places.first, places.count);
}

}  // namespace opbench::hdf5
