"""Standard input, output and error closed, in all combinations."""
import itertools
import os

from commands import broken_outputs, commands
from world import bad_end, left_behind


def closing(numbers):
    def close():
        for number in numbers:
            os.close(number)
    return close


def closed(world):
    sets = [numbers for count in (1, 2, 3) for numbers in itertools.combinations((0, 1, 2), count)]
    for name in ("run", "context", "compare", "check"):
        for numbers in sets:
            directory = world.fresh("closed")
            arguments = [word for word in commands(world, directory)[name] if word != "-q"]
            outcome = world.run(arguments, preexec_fn=closing(numbers))
            wrong = [bad_end(outcome)] if bad_end(outcome) else []
            # 5: too noisy to judge speed. A message about a closed output is allowed.
            allowed = {0, 5} | ({3} if 1 in numbers else set())
            if outcome.code not in allowed:
                wrong.append(f"exit code {outcome.code}: {outcome.text().strip()[-200:]}")
            wrong += left_behind(directory) + broken_outputs(directory)
            expected = {"compare": "cmp/compare.json", "check": "chk/check.json"}.get(name, "d.h5")
            if not (directory / expected).exists():
                wrong.append(f"{expected} is missing")
            yield f"{name}, closed {numbers}: {'; '.join(wrong)}" if wrong else None
