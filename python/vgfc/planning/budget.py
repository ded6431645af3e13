"""How much work a search may do: a number of steps, which gives the same result on every machine, and seconds."""

import time

CLOCK_INTERVAL_STEPS = 64


class OutOfBudget(Exception):  # noqa: N818 (it is an answer, not an error)
    """A search used up its steps or its seconds; what it had found so far is still good."""


class Budget:
    """Counts steps and raises OutOfBudget past `steps`, or past `seconds` after it was made.

    A part of a budget, made by `part`, ends no later than the whole, and what it uses is taken from the whole.
    """

    def __init__(self, steps: int | None = None, seconds: float | None = None) -> None:
        self.limit_steps = steps
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.used_steps = 0
        self.whole: Budget | None = None

    def part(self, steps: int) -> "Budget":
        """A budget of at most `steps` out of what is left of this one."""
        part = Budget(steps)
        part.deadline = self.deadline
        part.whole = self
        if self.limit_steps is not None:
            part.limit_steps = min(steps, max(0, self.limit_steps - self.used_steps))
        return part

    def step(self, count: int = 1) -> None:
        """Uses `count` steps; raises OutOfBudget when they are not there."""
        before = self.used_steps
        self.used_steps += count
        whole = self.whole
        while whole is not None:
            whole.used_steps += count
            whole = whole.whole
        if self.limit_steps is not None and self.used_steps > self.limit_steps:
            raise OutOfBudget
        # Reading the clock costs as much as a small step, so it is not read at every one.
        if before // CLOCK_INTERVAL_STEPS != self.used_steps // CLOCK_INTERVAL_STEPS and self.out_of_time():
            raise OutOfBudget

    def out_of_time(self) -> bool:
        """Whether the seconds are used up."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def spent(self) -> bool:
        """Whether the next step would raise."""
        return self.out_of_time() or (self.limit_steps is not None and self.used_steps >= self.limit_steps)
