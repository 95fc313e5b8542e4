"""A game for servers of other systems: count to a goal, in steps of 1 to 3."""

from dataclasses import dataclass


@dataclass
class Counting:
    """One game. A step that reaches the goal has the reward 1, one that passes it 0, and any other has none."""

    goal: int
    at: int = 0
    steps: int = 0

    @classmethod
    def of_seed(cls, seed: int) -> "Counting":
        """Returns the game of a seed, with a goal from 3 to 9."""
        return cls(3 + seed % 7)

    @property
    def text(self) -> str:
        """What the player sees."""
        return f"{self.at} of {self.goal}"

    def add(self, by: int) -> tuple[str, float | None, bool]:
        """Adds to the number, and returns what is seen, the reward and whether the game is over."""
        if not 1 <= by <= 3:
            raise ValueError("Add 1, 2 or 3.")
        self.steps += 1
        self.at += by
        over = self.at >= self.goal
        return self.text, float(self.at == self.goal) if over else None, over
