"""A program whose Python stacks are known: busy() writes its own stack before it works, a line for each of its callers.
Arguments: the file for these lines, the rounds of each loop."""
import functools
import sys
import threading

STACKS = open(sys.argv[1], "w", buffering=1)
ROUNDS = int(sys.argv[2])


def note(frame):
    rows = []
    while frame:
        rows.append("%s:%d" % (getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_lineno))
        frame = frame.f_back
    STACKS.write(";".join(rows) + "\n")


def busy(_=None):
    note(sys._getframe(0))
    total = 0
    for i in range(ROUNDS):
        total += i * i
        total ^= i
    return 1


def recursive(depth):
    return busy() if depth == 0 else recursive(depth - 1)


def mutual(depth):
    return sorted([depth], key=lambda at: mutual(at - 1) if at else busy())[0]


def generator():
    yield busy()
    yield 2
    yield busy()


def delegating():
    yield from generator()


async def coroutine():
    return busy()


async def awaiting():
    return await coroutine()


class Operand:
    def __add__(self, other):
        return busy() + other

    def __getattr__(self, name):
        return busy()

    def method(self):
        return self + 1

    @classmethod
    def of_class(cls):
        return cls().method()


def outer():
    def inner():
        return busy()
    return inner()


def failing():
    try:
        raise KeyError(busy())
    except KeyError:
        return busy()


def run_coroutine():
    try:
        awaiting().send(None)
    except StopIteration:
        pass


def in_thread(depth):
    recursive(depth)
    sorted([1], key=busy)


def main():
    busy()
    recursive(20)
    mutual(3)
    for _ in generator():
        pass
    sum(delegating())
    run_coroutine()
    Operand() + 1
    Operand().missing
    Operand.of_class()
    outer()
    failing()
    (lambda: busy())()
    [busy() for _ in range(1)]
    list(map(functools.partial(busy), [1]))
    exec("busy()", globals())
    threads = [threading.Thread(target=in_thread, args=(depth,)) for depth in (3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
