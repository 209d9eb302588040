"""Kernels of relu in fp32 that cheat, that misbehave, and that are correct, in Python; cheats.txt describes them."""

import concurrent.futures
import ctypes
import functools
import gc
import os
import random
import signal
import sys
import threading
import time

import numpy as np
import torch

import opbench_torch

with_torch = functools.partial(opbench_torch.kernel, "relu", dtypes=["fp32"])
with_numpy = functools.partial(with_torch, array="numpy")
now = functools.partial(time.clock_gettime, time.CLOCK_MONOTONIC)
MILLISECONDS = 2e-3  # of kernels whose time is checked


class Kept:
    calls, address, x, y = 0, 0, None, None


def relu(x):
    return np.maximum(x, 0)


def keep(x):
    Kept.x, Kept.y = x.copy(), relu(x)
    return Kept.y.copy()


def changed(x, step=1):
    return np.count_nonzero(x.ravel()[::step] != Kept.x.ravel()[::step])


def slow_relu(x):
    end = now() + MILLISECONDS
    while now() < end:
        pass
    return relu(x)


def counted(function):
    """The function gets the number of calls before this one, too."""
    @functools.wraps(function)
    def call(x):
        Kept.calls += 1
        return function(x, Kept.calls - 1)

    call.__wrapped__ = lambda x: None  # the signature
    return call


def once(function):
    """Does something in the first call only."""
    if Kept.calls == 0:
        Kept.calls = 1
        function()


# ---- results of earlier calls ----

@with_numpy()
def does_nothing(x):
    return np.empty_like(x)


@with_numpy()
@counted
def first_answer(x, calls):
    return keep(x) if calls == 0 else Kept.y.copy()


@with_numpy()
@counted
def same_memory(x, calls):
    return Kept.y if calls else (keep(x), Kept.y)[1]


@with_numpy()
@counted
def first_calls(x, calls):
    return relu(x) if calls < 3 else np.empty_like(x)


@with_numpy()
@counted
def one_in_four(x, calls):
    return keep(x) if calls % 4 == 0 else Kept.y.copy()


@with_numpy()
def by_pointer(x):
    known, Kept.address = Kept.address, x.ctypes.data
    return Kept.y.copy() if known == x.ctypes.data else keep(x)


@with_numpy()
@counted
def by_checksum(x, calls):
    return Kept.y.copy() if calls and changed(x, x.size // 5 + 1) == 0 else keep(x)


@with_numpy()
@counted
def every_eighth(x, calls):
    return Kept.y.copy() if calls and changed(x, 8) == 0 else keep(x)


@with_numpy()
@counted
def few_differ(x, calls):
    return Kept.y.copy() if calls and changed(x) <= 8 else keep(x)


# ---- wrong results ----

@with_torch()
def constant(x):
    return torch.full_like(x, float(x.clamp(min=0).mean()))


@with_numpy()
def one_wrong(x):
    y = relu(x)
    y.ravel()[x.size * 5 // 7] += 1
    return y


@with_torch(destination=True)
def skips_tail(x, y):
    torch.clamp(x.view(-1)[:-1], min=0, out=y.view(-1)[:-1])


@with_numpy(destination=True)
def skips_some(x, y):
    places = np.arange(x.size) % 1000 != 999
    y.ravel()[places] = relu(x).ravel()[places]


@with_numpy()
def races(x):
    y = relu(x)
    y.ravel()[-1] += random.randrange(2)
    return y


@with_torch()
def returns_input(x):
    return x


class LazyTensor(torch.Tensor):
    pass


@with_torch()
def lazy(x):
    return torch.Tensor._make_subclass(LazyTensor, x)


class LazyArray(np.ndarray):
    pass


@with_numpy()
def lazy_array(x):
    return x.view(LazyArray)


# ---- other memory ----

@with_torch(destination=True)
def writes_too_far(x, y):
    y.copy_(x.clamp(min=0))
    y.as_strided((1,), (1,), y.storage_offset() + y.numel() + 2).fill_(1)


@with_torch(destination=True)
def writes_before(x, y):
    y.copy_(x.clamp(min=0))
    y.as_strided((1,), (1,), y.storage_offset() - 1).fill_(1)


@with_numpy()
def changes_input(x):
    y = relu(x)
    x.ravel()[x.size // 2] += 1
    return y


@with_torch()
def relu_in_place(x):
    return x.clamp_(min=0)


# ---- work outside of the clock ----

def later(x, y, seconds):
    time.sleep(seconds)
    np.maximum(x, 0, out=y)


@with_numpy()
def late_thread(x):
    y = np.zeros_like(x)
    threading.Thread(target=later, args=(x, y, 2e-4)).start()
    return y


@with_numpy()
def late_half(x):
    y = relu(x)
    y[1:] = 0
    threading.Thread(target=later, args=(x, y, 0)).start()
    return y


pool = concurrent.futures.ThreadPoolExecutor(1)
pool.submit(os.getpid).result()  # its thread runs before the first call


@with_numpy()
def late_pool(x):
    y = np.zeros_like(x)
    pool.submit(later, x, y, 0)
    return y


@with_torch()
def forks_and_works(x):
    y = torch.zeros(x.shape).share_memory_()
    if os.fork() == 0:
        later(x.numpy(), y.numpy(), 2e-4)
        os._exit(0)
    return y


@with_numpy()
def slow_clock(x):
    def patch():
        for name in ("time", "monotonic", "perf_counter", "process_time"):
            setattr(time, name, lambda: 0.0)
            setattr(time, name + "_ns", lambda: 0)
    once(patch)
    return slow_relu(x)


@with_numpy()
def slow_events(x):
    class Event:
        def __init__(self, **kwargs):
            self.record = self.synchronize = lambda *args: None
            self.elapsed_time = lambda end: 1e-6
    torch.cuda.Event, torch.cuda.synchronize = Event, lambda *args: None
    return slow_relu(x)


# ---- changes of the guest itself ----

def module(name):
    return sys.modules["opbench_torch.guest_" + name]


def device_of_guest():
    return next(found for found in gc.get_objects() if type(found) is module("device").Cpu)


def states(**seconds):
    clock = module("device").Timed
    device_of_guest().timed = lambda function: clock(function(), 1e-9, None)._replace(**seconds)


@with_numpy()
def patches_clock(x):
    once(states)
    return slow_relu(x)


@with_numpy()
def lies_about_device(x):
    once(functools.partial(states, seconds=2e-3, device_seconds=1e-9))
    return slow_relu(x)


@with_numpy()
def in_load(x):
    def patch():
        session = module("session").Session
        load = session.load

        def load_and_compute(self):
            load(self)
            Kept.y = slow_relu(self._shared[0].numpy())
        session.load = load_and_compute
        Kept.y = slow_relu(x)
    once(patch)
    return Kept.y


@with_torch()
def in_fetch(x):
    def patch():
        copy = torch.Tensor.copy_
        torch.Tensor.copy_ = lambda to, of: copy(to, torch.from_numpy(slow_relu(x.numpy())))
    once(patch)
    return torch.empty_like(x)


@with_numpy()
def patches_checks(x):
    def patch():
        module("session").spoil = lambda result: None
        module("kernel").plain_results = lambda returned, outputs, device: [returned]
    once(patch)
    if Kept.y is None:
        keep(x)
    return Kept.y


@with_numpy()
def patches_session(x):
    once(lambda: setattr(module("session").Session, "call", lambda self, cold: {"seconds": 1e-9}))
    return relu(x)


@with_torch()
def falls_back(x):
    return torch.relu(x)


# ---- ends of the process, other descriptors ----

@with_numpy()
def fails(x):
    raise RuntimeError("no such device")


@with_numpy()
def segfaults(x):
    return ctypes.string_at(8)


@with_numpy()
def aborts(x):
    os.abort()


@with_numpy()
def exits(x):
    os._exit(0)


@with_numpy()
def system_exit(x):
    sys.exit(0)


@with_numpy()
def endless(x):
    while True:
        pass


@with_numpy()
def ignores_signals(x):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


@with_numpy()
def allocates_much(x):
    return np.ones(1 << 50, np.int8)


@with_numpy()
def reserves_much(x):
    Kept.y = [np.empty(1 << 30, np.int8) for _ in range(1 << 14)]
    return relu(x)


ANSWER = b'{"seconds": 1e-9, "device_seconds": 1e-9}\n'


@with_numpy()
def prints_answers(x):
    print(ANSWER.decode(), flush=True)
    os.write(1, ANSWER)
    return np.empty_like(x)


@with_numpy()
def forges_answers(x):
    for number in range(3, 64):
        try:
            os.write(number, ANSWER)
        except OSError:
            pass
    return np.empty_like(x)


@with_numpy()
def closes_memory(x):
    once(lambda: os.close(3))
    return relu(x)


@with_numpy()
def closes_standard(x):
    once(lambda: os.closerange(0, 4))
    return relu(x)


@with_numpy()
def closes_all(x):
    os.closerange(0, 64)
    return relu(x)


@with_numpy()
def shrinks_memory(x):
    os.ftruncate(3, 0)
    return relu(x)


@with_numpy()
def leaves_a_child(x):
    def fork():
        if os.fork() == 0:
            time.sleep(120)
            os._exit(0)
    once(fork)
    return relu(x)


# ---- correct ----

@with_torch()
def correct_torch(x):
    return torch.where(x < 0, torch.zeros_like(x), x)


@with_numpy()
def correct_numpy(x):
    return relu(x)


@with_torch(destination=True)
def correct_destination(x, y):
    torch.clamp(x, min=0, out=y)


@with_numpy(destination=True)
def correct_passes(x, y):
    y[...] = x
    np.maximum(y, 0, out=y)


@with_numpy()
def correct_threads(x):
    y = np.empty_like(x)
    thread = threading.Thread(target=later, args=(x, y, 0))
    thread.start()
    thread.join()
    return y


@with_numpy()
def correct_pool(x):
    return pool.submit(relu, x).result()


@with_numpy()
def correct_chatter(x):
    print(x.size, "elements")
    return relu(x)
