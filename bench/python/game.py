"""The rules of the world number-guessing, as the servers in Python play them."""

import random
from dataclasses import dataclass, field


@dataclass
class Game:
    seed: object
    low: int = 1
    high: int = 1_000_000_000
    guesses_left: int = 32
    guesses: list[dict] = field(default_factory=list)
    total: float = 0.0
    done: bool = False

    def __post_init__(self) -> None:
        self.target = random.Random(self.seed).randint(self.low, self.high)

    def observe(self) -> str:
        return f"Guess a whole number from {self.low} to {self.high}. {self.guesses_left} guesses left."

    def guess(self, value: int) -> tuple[dict, float]:
        """Returns the answer to a guess, and its reward."""
        if self.done:
            raise ValueError("The episode has ended.")
        if not self.low <= value <= self.high:
            raise ValueError(f"{value} is out of range.")
        hint = "correct" if value == self.target else "higher" if value < self.target else "lower"
        answer = {"value": value, "hint": hint}
        self.guesses.append(answer)
        self.guesses_left -= 1
        self.done = hint == "correct" or self.guesses_left == 0
        reward = 0.99 if hint == "correct" else -0.01
        self.total += reward
        return answer, reward
