/* Kernels of relu in fp32 that cheat, that misbehave, and that are correct; cheats.txt describes
 * them. `run` in this folder checks that opbench sees through the former and does not blame the
 * latter. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "opbench/opbench_plugin.h"
#include "tests/kernels/foreign/cheats/slow_clock.h"

typedef struct State State;
typedef int Work(State* state, const float* x, float* y);

struct State {
  Work* work;
  size_t count; /* elements */
  int calls;    /* before this one */
  const float *last_x, *last_y;
  float *kept_x, *kept_y; /* of an earlier call */
  char* is_place;         /* elements that have changed */
  pthread_t thread;
  int is_running;
  double device_seconds;
};

static char failure[200];

static void relu(const float* x, float* y, size_t count) {
  for (size_t i = 0; i < count; ++i) y[i] = x[i] < 0 ? 0 : x[i];
}

/* 2 ms, by a clock that no kernel replaces. */
static void wait_long(void) {
  struct timespec begin, now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &begin);
  do {
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000LL + now.tv_nsec - begin.tv_nsec < 2000000);
}

static int fail(const char* text) {
  snprintf(failure, sizeof failure, "%s", text);
  return 1;
}

static int compute(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  return 0;
}

static int keep(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  memcpy(s->kept_x, x, s->count * sizeof *x);
  memcpy(s->kept_y, y, s->count * sizeof *y);
  return 0;
}

static int hand_out(State* s, float* y) {
  memcpy(y, s->kept_y, s->count * sizeof *y);
  return 0;
}

/* Elements that changed since an earlier call, among every `step`-th. */
static size_t changed(const State* s, const float* x, size_t step) {
  size_t changes = 0;
  for (size_t i = 0; i < s->count; i += step)
    changes += memcmp(&x[i], &s->kept_x[i], sizeof *x) != 0;
  return changes;
}

/* ---- results of earlier calls ---- */

static int does_nothing(State* s, const float* x, float* y) { return (void)s, (void)x, (void)y, 0; }

static int first_answer(State* s, const float* x, float* y) {
  return s->calls == 0 ? keep(s, x, y) : hand_out(s, y);
}

static int first_calls(State* s, const float* x, float* y) {
  return s->calls < 3 ? compute(s, x, y) : 0;
}

static int one_in_four(State* s, const float* x, float* y) {
  return s->calls % 4 == 0 ? keep(s, x, y) : hand_out(s, y);
}

static int by_pointer(State* s, const float* x, float* y) {
  const int is_known = x == s->last_x && y == s->last_y;
  s->last_x = x, s->last_y = y;
  return is_known ? hand_out(s, y) : keep(s, x, y);
}

static int by_checksum(State* s, const float* x, float* y) {
  const size_t step = s->count / 5 + 1;
  return s->calls > 0 && changed(s, x, step) == 0 ? hand_out(s, y) : keep(s, x, y);
}

static int every_eighth(State* s, const float* x, float* y) {
  return s->calls > 0 && changed(s, x, 8) == 0 ? hand_out(s, y) : keep(s, x, y);
}

static int few_differ(State* s, const float* x, float* y) {
  return s->calls > 0 && changed(s, x, 1) <= 8 ? hand_out(s, y) : keep(s, x, y);
}

/* Learns for 20 calls which elements change a little, and then looks at no others. */
static int learns_places(State* s, const float* x, float* y) {
  if (s->calls == 0 || (s->calls < 20 && changed(s, x, 1) > 8)) return keep(s, x, y);
  if (s->calls < 20) {
    for (size_t i = 0; i < s->count; ++i) s->is_place[i] |= x[i] != s->kept_x[i];
    return keep(s, x, y);
  }
  hand_out(s, y);
  for (size_t i = 0; i < s->count; ++i) {
    if (s->is_place[i]) relu(&x[i], &y[i], 1);
  }
  return 0;
}

/* Computes unless its output is as it was left. */
static int if_overwritten(State* s, const float* x, float* y) {
  return s->calls > 0 && memcmp(y, s->kept_y, s->count * sizeof *y) == 0 ? 0 : keep(s, x, y);
}

/* ---- wrong results ---- */

static int constant(State* s, const float* x, float* y) {
  float sum = 0;
  for (size_t i = 0; i < s->count; i += 16) sum += x[i] < 0 ? 0 : x[i];
  for (size_t i = 0; i < s->count; ++i) y[i] = sum / (float)(s->count / 16 + 1);
  return 0;
}

static int one_wrong(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  y[s->count * 5 / 7] += 1;
  return 0;
}

static int skips_tail(State* s, const float* x, float* y) { return relu(x, y, s->count - 1), 0; }

static int skips_some(State* s, const float* x, float* y) {
  for (size_t i = 0; i < s->count; ++i) {
    if (i % 1000 != 999) relu(&x[i], &y[i], 1);
  }
  return 0;
}

static int reads_beyond(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  y[s->count - 1] = fmaxf(y[s->count - 1], x[s->count]);
  return 0;
}

static int races(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  if (rand() % 2) y[s->count - 1] += 1;
  return 0;
}

/* ---- other memory ---- */

static int writes_too_far(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  *((char*)(y + s->count) + 8) ^= 1;
  return 0;
}

static int writes_before(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  *((char*)y - 1) ^= 1;
  return 0;
}

static int changes_input(State* s, const float* x, float* y) {
  relu(x, y, s->count);
  ((float*)x)[s->count / 2] += 1;
  return 0;
}

static int relu_in_place(State* s, const float* x, float* y) {
  relu(x, (float*)x, s->count);
  memcpy(y, x, s->count * sizeof *y);
  return 0;
}

/* ---- work outside of the clock ---- */

typedef struct {
  const float* x;
  float* y;
  size_t count;
  long nanoseconds;
} Job;

static void* run_job(void* argument) {
  Job* job = argument;
  nanosleep(&(struct timespec){.tv_nsec = job->nanoseconds}, NULL);
  relu(job->x, job->y, job->count);
  free(job);
  return NULL;
}

static void join(State* s) {
  if (s->is_running) pthread_join(s->thread, NULL);
  s->is_running = 0;
}

static int start(State* s, const float* x, float* y, size_t count, long nanoseconds) {
  Job* job = malloc(sizeof *job);
  *job = (Job){x, y, count, nanoseconds};
  join(s);
  if (pthread_create(&s->thread, NULL, run_job, job) != 0) return fail("pthread_create failed");
  s->is_running = 1;
  return 0;
}

static int late_thread(State* s, const float* x, float* y) {
  return start(s, x, y, s->count, 200000);
}

/* Soon enough that the results are complete when they are checked. */
static int late_half(State* s, const float* x, float* y) {
  relu(x + s->count / 2, y + s->count / 2, s->count - s->count / 2);
  return start(s, x, y, s->count / 2, 0);
}

static int forks_and_works(State* s, const float* x, float* y) {
  if (fork() == 0) {
    usleep(200);
    relu(x, y, s->count);
    _exit(0);
  }
  return 0;
}

static int slow_clock(State* s, const float* x, float* y) {
  slow_down_clocks();
  wait_long();
  return compute(s, x, y);
}

static int lies_about_device(State* s, const float* x, float* y) {
  s->device_seconds = 1e-9;
  wait_long();
  return compute(s, x, y);
}

/* ---- ends of the process, other descriptors ---- */

static int fails(State* s, const float* x, float* y) {
  return (void)s, (void)x, (void)y, fail("no such device");
}

static int segfaults(State* s, const float* x, float* y) {
  return (void)s, (void)y, *(volatile int*)(intptr_t)(x ? 8 : 16);
}

static int aborts(State* s, const float* x, float* y) {
  return (void)s, (void)x, (void)y, abort(), 0;
}

static int exits(State* s, const float* x, float* y) { return compute(s, x, y), exit(0), 0; }

static int endless(State* s, const float* x, float* y) {
  while (s != NULL) compute(s, x, y), usleep(1000);
  return 0;
}

static int allocates_much(State* s, const float* x, float* y) {
  float* copy = malloc((size_t)1 << 50);
  return copy == NULL ? fail("there is no memory for the workspace")
                      : (free(copy), compute(s, x, y));
}

/* 16 TiB in small pieces that no page is behind, so that each of them is granted. */
static int reserves_much(State* s, const float* x, float* y) {
  for (int i = 0; i < 16384; ++i) {
    void* volatile piece = malloc((size_t)1 << 30);
    if (piece == NULL) return fail("there is no memory for the workspace");
  }
  return compute(s, x, y);
}

/* A line that looks like the answer to `call`. */
static const char answer[] = "{\"seconds\": 1e-9, \"device_seconds\": 1e-9}\n";

static int prints_answers(State* s, const float* x, float* y) {
  (void)s, (void)x, (void)y;
  fputs(answer, stdout), fflush(stdout);
  return write(STDOUT_FILENO, answer, sizeof answer - 1) < 0;
}

/* Writes the answer to every pipe and socket, the answers of the guest among them. */
static int forges_answers(State* s, const float* x, float* y) {
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    struct stat about;
    if (fstat(descriptor, &about) != 0 || !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)))
      continue;
    if (write(descriptor, answer, sizeof answer - 1) < 0) continue;
  }
  return compute(s, x, y);
}

static int closes_memory(State* s, const float* x, float* y) { return close(3), compute(s, x, y); }

static int closes_all(State* s, const float* x, float* y) {
  for (int descriptor = 0; descriptor < 64; ++descriptor) close(descriptor);
  return compute(s, x, y);
}

static int shrinks_memory(State* s, const float* x, float* y) {
  return ftruncate(3, 0) != 0 ? fail("the memory keeps its size") : (void)x, (void)y, (void)s, 0;
}

static int leaves_a_child(State* s, const float* x, float* y) {
  if (s->calls == 0 && fork() == 0) sleep(120), _exit(0);
  return compute(s, x, y);
}

static int ignores_signals(State* s, const float* x, float* y) {
  signal(SIGTERM, SIG_IGN), signal(SIGINT, SIG_IGN), signal(SIGPIPE, SIG_IGN);
  return endless(s, x, y);
}

/* ---- correct kernels ---- */

static int correct_backwards(State* s, const float* x, float* y) {
  for (size_t i = s->count; i-- > 0;) relu(&x[i], &y[i], 1);
  return 0;
}

static int correct_threads(State* s, const float* x, float* y) {
  start(s, x, y, s->count / 2, 0);
  relu(x + s->count / 2, y + s->count / 2, s->count - s->count / 2);
  return join(s), 0;
}

/* Writes outputs twice. */
static int correct_passes(State* s, const float* x, float* y) {
  memcpy(y, x, s->count * sizeof *y);
  relu(y, y, s->count);
  return 0;
}

static int correct_chatter(State* s, const float* x, float* y) {
  printf("%d elements\n", (int)s->count);
  return compute(s, x, y);
}

/* Allocates a workspace in each call. */
static int correct_workspace(State* s, const float* x, float* y) {
  float* work = malloc(s->count * sizeof *work);
  relu(x, work, s->count);
  memcpy(y, work, s->count * sizeof *y);
  return free(work), 0;
}

/* ---- kernels with memory of their own ---- */

static float *device_x, *device_y; /* one session at a time is enough */

static int copy_in(void* state, const DLTensor* inputs) {
  State* s = state;
  memcpy(s->kept_x, inputs[0].data, s->count * sizeof(float));
  device_x = s->kept_x, device_y = s->kept_y;
  return 0;
}

static int copy_out(void* state, DLTensor* outputs) { return hand_out(state, outputs[0].data); }

static int compute_in_load(void* state, const DLTensor* inputs) {
  copy_in(state, inputs);
  wait_long();
  return relu(device_x, device_y, ((State*)state)->count), 0;
}

static int compute_in_fetch(void* state, DLTensor* outputs) {
  wait_long();
  relu(device_x, device_y, ((State*)state)->count);
  return copy_out(state, outputs);
}

static int in_load(State* s, const float* x, float* y) { return does_nothing(s, x, y); }

static int in_fetch(State* s, const float* x, float* y) { return does_nothing(s, x, y); }

static int correct_device(State* s, const float* x, float* y) {
  return (void)x, (void)y, start(s, s->kept_x, s->kept_y, s->count, 0);
}

/* ---- the plug-in ---- */

typedef struct {
  const char* name;
  Work* work;
} Row;

/* clang-format off */
#define CHEATS(X) \
  X(does_nothing) X(first_answer) X(first_calls) X(one_in_four) X(by_pointer) X(by_checksum) \
  X(every_eighth) X(few_differ) X(learns_places) X(if_overwritten) X(constant) X(one_wrong) \
  X(skips_tail) X(skips_some) X(reads_beyond) X(races) X(writes_too_far) X(writes_before) \
  X(changes_input) X(relu_in_place) X(late_thread) X(late_half) X(forks_and_works) \
  X(slow_clock) X(lies_about_device) X(fails) X(segfaults) X(aborts) X(exits) X(endless) \
  X(allocates_much) X(reserves_much) X(prints_answers) X(forges_answers) X(closes_memory) \
  X(closes_all) X(shrinks_memory) X(leaves_a_child) X(ignores_signals) X(in_load) X(in_fetch) \
  X(correct_backwards) X(correct_threads) X(correct_passes) X(correct_chatter) \
  X(correct_workspace) X(correct_device)
#define ROW(name) {#name, name},
/* clang-format on */
static const Row rows[] = {CHEATS(ROW)};
enum { kRows = sizeof rows / sizeof *rows };

static int prepare(const OpbenchCase* use, void** state) {
  State* s = calloc(1, sizeof *s);
  s->work = ((const Row*)use->kernel->own)->work;
  s->count = (size_t)opbench_elements(use->inputs);
  s->kept_x = calloc(s->count, sizeof(float));
  s->kept_y = calloc(s->count, sizeof(float));
  s->is_place = calloc(s->count, 1);
  s->device_seconds = -1;
  *state = s;
  return 0;
}

static int call(void* state, const DLTensor* inputs, DLTensor* outputs) {
  State* s = state;
  const int status = s->work(s, inputs[0].data, outputs[0].data);
  ++s->calls;
  return status;
}

static int wait_for_device(void* state, double* device_seconds) {
  *device_seconds = ((State*)state)->device_seconds;
  return 0;
}

static int wait_for_thread(void* state, double* device_seconds) {
  *device_seconds = -1;
  return join(state), 0;
}

static void close_state(void* state) {
  State* s = state;
  join(s);
  free(s->kept_x), free(s->kept_y), free(s->is_place), free(s);
}

static const char* last_failure(void) { return failure; }

const OpbenchPlugin* opbench_plugin(void) {
  static OpbenchKernel kernels[kRows];
  static const OpbenchPlugin plugin = {.major = OPBENCH_PLUGIN_MAJOR,
                                       .minor = OPBENCH_PLUGIN_MINOR,
                                       .kernel_bytes = sizeof(OpbenchKernel),
                                       .kernels = kernels,
                                       .kernel_count = kRows,
                                       .error = last_failure};
  for (size_t i = 0; i < kRows; ++i) {
    const int has_device =
        rows[i].work == in_load || rows[i].work == in_fetch || rows[i].work == correct_device;
    kernels[i] = (OpbenchKernel){.op = "relu",
                                 .name = rows[i].name,
                                 .dtypes = "fp32",
                                 .prepare = prepare,
                                 .call = call,
                                 .wait = rows[i].work == lies_about_device ? wait_for_device : NULL,
                                 .close = close_state,
                                 .own = &rows[i]};
    if (!has_device) continue;
    kernels[i].load = rows[i].work == in_load ? compute_in_load : copy_in;
    kernels[i].fetch = rows[i].work == in_fetch ? compute_in_fetch : copy_out;
    kernels[i].wait = wait_for_thread;
  }
  return &plugin;
}
