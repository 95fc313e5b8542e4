"""Episodes that are played in lock step: one batch of calls for all that are not over, then one step of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import NamedTuple, TypeAlias

from calls import parse_call
from conversation import Conversation
from sampling import Completion
from turns import Turn
from vocabulary import END, Vocabulary
from worlds import World

from episodic_env import Connection, Episode, EpisodicError

Player: TypeAlias = Callable[[Sequence[tuple[int, ...]], Sequence[int], int], list[Completion]]
"""Makes a call after each context. Takes the contexts, the numbers of their episodes and that of the turn."""


class Outcome(NamedTuple):
    """What a call led to."""

    reward: float
    """The sum of the raw terms."""
    potential: float
    """That of the world before the call."""
    invalid: bool
    """Whether the call was malformed, or its tool or arguments are not what the schemas allow."""
    refused: bool = False
    """Whether it was valid, and the rules refused it."""
    state_hash: str | None = None
    """Of the whole state after it."""


@dataclass
class Rollout:
    """One played episode."""

    seed: str
    turns: list[Turn] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    """Of the turns. One fewer in an episode that failed."""
    total: float | None = None
    """The return: the sum of all rewards. None for a failed episode, which is no data."""
    success: bool = False
    samples: list[str] = field(default_factory=list)
    """Of the turns: who drew each. Leaves of a tree that share a turn have the same name of it."""
    shared: int = 0
    """How many of its first turns another leaf has, which they are learned with."""

    def forked(self) -> Rollout:
        """Returns a further leaf, which shares all turns so far."""
        turns, outcomes, samples = list(self.turns), list(self.outcomes), list(self.samples)
        return replace(self, turns=turns, outcomes=outcomes, samples=samples, shared=len(turns))

    @property
    def invalid(self) -> int:
        """How many calls were invalid."""
        return sum(outcome.invalid for outcome in self.outcomes)

    @property
    def refused(self) -> int:
        """How many valid calls the rules refused."""
        return sum(outcome.refused for outcome in self.outcomes)


class Batch(NamedTuple):
    """Episodes, and the seconds in which the player waited for their opening, steps and closing."""

    rollouts: list[Rollout]
    environment_seconds: float


def play(
    connection: Connection,
    world: World,
    vocabulary: Vocabulary,
    seeds: Sequence[str],
    player: Player,
    forks: Sequence[int] = (),
) -> Batch:
    """Plays an episode for each seed. Those that fail have no return.

    After each number of turns in `forks`, each episode becomes two leaves of a tree: the world is forked, and both
    go on from the same tokens. One that is over counts as two leaves too, as a mean over leaves would otherwise count
    long episodes more often.
    """
    rollouts = [Rollout(seed) for seed in seeds]
    conversations = [
        Conversation(vocabulary, remembers=world.remembers, longest=world.longest_observation) for _ in seeds
    ]
    with ThreadPoolExecutor(8) as pool:
        start = monotonic()
        episodes = list(
            pool.map(lambda seed: connection.open(world.name, world.params, seed=seed, limits=world.limits), seeds)
        )
        seconds = monotonic() - start
        contexts = {
            number: conversation.observe(f"{world.prompt}\n\n{episode.observation.text}")
            for number, (conversation, episode) in enumerate(zip(conversations, episodes, strict=True))
        }
        turn = 0
        while contexts:
            if turn in forks:
                start = monotonic()
                twins = dict(zip(contexts, pool.map(lambda number: _forked(episodes[number]), contexts), strict=True))
                seconds += monotonic() - start
                for number in range(len(rollouts)):
                    twin = twins.get(number, episodes[number])
                    rollouts.append(rollouts[number].forked())
                    episodes.append(episodes[number] if twin is None else twin)
                    conversations.append(conversations[number].forked())
                    if number in contexts and twin is not None:
                        contexts[len(rollouts) - 1] = contexts[number]
            calls = dict(zip(contexts, player(list(contexts.values()), list(contexts), turn), strict=True))

            def step(number: int, calls: dict[int, Completion] = calls) -> str | None:
                return _step(episodes[number], rollouts[number], world, vocabulary, calls[number])

            start = monotonic()
            observed = dict(zip(calls, pool.map(step, calls), strict=True))
            seconds += monotonic() - start
            for number, call in calls.items():
                rollouts[number].turns.append(Turn(contexts[number], tuple(call.tokens), tuple(call.log_probabilities)))
                rollouts[number].samples.append(f"{number} {turn}")
                conversations[number].answer(call.tokens)
            contexts = {
                number: conversations[number].observe(text) for number, text in observed.items() if text is not None
            }
            turn += 1
        start = monotonic()
        list(pool.map(_close, episodes))
    return Batch(rollouts, seconds + monotonic() - start)


def _step(episode: Episode, rollout: Rollout, world: World, vocabulary: Vocabulary, call: Completion) -> str | None:
    """Makes a call, and returns the observation; None if the episode is over, or has failed."""
    ended = call.tokens[-1] == END
    tool, arguments = parse_call(vocabulary.decode(call.tokens[:-1] if ended else call.tokens))
    potential = episode.potential or 0.0
    try:
        step = episode.step(tool, arguments)
    except EpisodicError:
        return None
    rollout.outcomes.append(
        Outcome(step.reward, potential, step.refused in ("tool", "arguments"), step.refused == "rules", step.state_hash)
    )
    if step.end is None:
        return step.observation.text
    rollout.total = episode.total
    rollout.success = step.end.reason == world.success
    return None


def _forked(episode: Episode) -> Episode | None:
    """Returns a fork of an episode; None if that fails, which makes a leaf without a return."""
    try:
        [fork] = episode.fork()
    except EpisodicError:
        return None
    return fork


def _close(episode: Episode) -> None:
    try:
        episode.close()
    except EpisodicError:
        # A session that cannot be closed expires.
        return
