/* Replaces clock_gettime in the tables of imported functions of all loaded objects, as a kernel
 * does that slows down the clock of the process that measures it. 64-bit Linux. */
#define _GNU_SOURCE
#include "tests/kernels/foreign/cheats/slow_clock.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static long long first; /* ns */

static long long nanoseconds(const struct timespec* time) {
  return time->tv_sec * 1000000000LL + time->tv_nsec;
}

static int slow_gettime(clockid_t clock, struct timespec* time) {
  const int status = clock_gettime(clock, time);
  if (clock != CLOCK_MONOTONIC) return status;
  const long long now = first + (nanoseconds(time) - first) / 10;
  *time = (struct timespec){.tv_sec = now / 1000000000LL, .tv_nsec = now % 1000000000LL};
  return status;
}

static void replace(ElfW(Addr) base, const ElfW(Rela) * entries, size_t bytes,
                    const ElfW(Sym) * symbols, const char* names) {
  for (size_t i = 0; i < bytes / sizeof *entries; ++i) {
    if (strcmp(names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name, "clock_gettime") != 0)
      continue;
    void** place = (void**)(base + entries[i].r_offset);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    mprotect((void*)((size_t)place / page * page), page, PROT_READ | PROT_WRITE);
    *place = (void*)slow_gettime;
  }
}

static int visit(struct dl_phdr_info* object, size_t size, void* own_base) {
  (void)size;
  if (object->dlpi_addr == *(ElfW(Addr)*)own_base) return 0;
  const ElfW(Dyn)* dynamic = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = (const ElfW(Dyn)*)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  }
  ElfW(Addr) values[DT_NUM] = {0};
  for (; dynamic != NULL && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag < DT_NUM) values[dynamic->d_tag] = dynamic->d_un.d_ptr;
  }
  if (values[DT_SYMTAB] < object->dlpi_addr || values[DT_STRTAB] == 0)
    return 0; /* that of the kernel */
  const ElfW(Sym)* symbols = (const ElfW(Sym)*)values[DT_SYMTAB];
  const char* names = (const char*)values[DT_STRTAB];
  replace(object->dlpi_addr, (const ElfW(Rela)*)values[DT_JMPREL], values[DT_PLTRELSZ], symbols,
          names);
  replace(object->dlpi_addr, (const ElfW(Rela)*)values[DT_RELA], values[DT_RELASZ], symbols, names);
  return 0;
}

void slow_down_clocks(void) {
  if (first != 0) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  first = nanoseconds(&now);
  Dl_info own;
  if (dladdr((void*)slow_down_clocks, &own) != 0) dl_iterate_phdr(visit, &own.dli_fbase);
}
