"""The parts of the language model in `examples/language_model`, and its short training against a server."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("jax") is None or importlib.util.find_spec("optax") is None:
    pytest.skip("needs jax and optax: pnpm interop python language-model", allow_module_level=True)

import jax
import numpy
from calls import call_text, parse_call
from conversation import Conversation
from credit import DISCOUNT, INVALID_COST, METHODS, REFUSED_COST, by_group, by_turn, values_after
from grpo import Learner
from model import Parameters, Shape, hash_of, initial_parameters, log_probabilities
from rollouts import Outcome, Rollout
from sampling import sample
from turns import Turn, sequences_of
from vocabulary import CALL, END, OBSERVATION, Vocabulary

SHAPE = Shape(layers=1, width=16, heads=2)


def test_every_ascii_text_is_encoded_and_decoded() -> None:
    vocabulary = Vocabulary(["The number is higher than 8.\n", call_text("guess", {"value": 8})])
    for text in (
        "The number is lower than 12.\n@FFF",
        '{"tool":"guess","arguments":{"value":15}}',
        "".join(map(chr, range(32, 127))),
    ):
        assert vocabulary.decode(vocabulary.encode(text)) == text
    # What is before the number, two digits of a number that was in no text, and what is after it.
    assert len(vocabulary.encode(call_text("guess", {"value": 12}))) == 4
    assert len(vocabulary.encode(call_text("guess", {"value": 8}))) == 3
    with pytest.raises(KeyError):
        vocabulary.encode("é")
    spelled = Vocabulary(["drôle"])
    assert spelled.decode(spelled.encode("ô4")) == "ô4"


def test_malformed_calls_are_not_repaired() -> None:
    assert parse_call('{"tool":"guess","arguments":{"value":8}}') == ("guess", {"value": 8})
    for text in (
        '{"tool":"guess","arguments":{"value":08}}',
        '{"tool":"guess"}',
        '["guess"]',
        "guess",
        "",
        '{"tool":"guess","arguments":{}}<end>',
    ):
        assert parse_call(text) == (text, {})


def test_turns_of_a_remembered_episode_are_one_sequence() -> None:
    vocabulary = Vocabulary(["a b"])
    for remembers, count in ((True, 1), (False, 2)):
        conversation = Conversation(vocabulary, remembers=remembers, longest=8)
        turns = []
        for observed in ("a", "b"):
            context = conversation.observe(observed)
            call = conversation.call_tokens("c")
            conversation.answer(call)
            turns.append(Turn(context, tuple(call), (-1.0,) * len(call)))
        sequences = sequences_of(turns)
        assert len(sequences) == count
        for sequence in sequences:
            said = [token for token, learned in zip(sequence.tokens, sequence.calls, strict=True) if learned]
            assert said == [*vocabulary.encode("c"), END] * (2 // count)
            assert sequence.tokens[0] == OBSERVATION
            assert CALL not in said


def test_of_a_long_observation_the_end_is_kept() -> None:
    conversation = Conversation(Vocabulary([]), remembers=False, longest=2)
    assert conversation.observe("abc") == conversation.observe("bc")


def rollout_of(seed: str, *outcomes: Outcome, failed: bool = False) -> Rollout:
    total = None if failed else sum(outcome.reward for outcome in outcomes)
    return Rollout(seed, outcomes=list(outcomes), total=total)


def test_a_failed_episode_is_in_no_group() -> None:
    won, lost = Outcome(1.0, 0.0, False), Outcome(0.0, 0.0, False)
    rollouts = [rollout_of("a", won), rollout_of("a", lost), rollout_of("a", won, failed=True)]
    assert [(rollout.total, values) for rollout, values in by_turn(rollouts)] == [(1.0, [1.0]), (0.0, [-1.0])]


def test_what_followed_a_call_is_discounted_and_shaped() -> None:
    outcomes = [Outcome(0.0, 0.2, False), Outcome(1.0, 0.5, False)]
    last = 1.0 - 0.5
    assert values_after(outcomes) == pytest.approx([DISCOUNT * 0.5 - 0.2 + DISCOUNT * last, last])


def test_invalid_and_refused_calls_cost() -> None:
    assert values_after([Outcome(0.0, 0.0, True)]) == [-INVALID_COST]
    assert values_after([Outcome(0.0, 0.0, False, True)]) == [-REFUSED_COST]


def leaf(samples: list[str], reward: float, shared: int = 0) -> Rollout:
    """Returns a leaf of a tree, which earns at its end."""
    turns = [Turn((1, turn), (2,), (-1.0,)) for turn, _ in enumerate(samples)]
    rewards = [*[0.0] * (len(samples) - 1), reward]
    outcomes = [
        Outcome(each, 0.0, False, state_hash=sample.split()[0]) for each, sample in zip(rewards, samples, strict=True)
    ]
    return Rollout("a", turns, outcomes, reward, samples=samples, shared=shared)


def test_leaves_of_a_tree_are_compared_and_what_they_share_has_the_mean_of_theirs() -> None:
    tree = [leaf(["0", "1"], 1.0), leaf(["0", "2"], 0.0, 1), leaf(["3", "4"], 0.0), leaf(["3", "5"], 0.0, 1)]
    [won, lost, other, _] = [values for _, values in by_group(tree)]
    assert won[0] == lost[0] == pytest.approx((won[1] + lost[1]) / 2)
    assert won[1] > won[0] > other[0] == pytest.approx(lost[1])


def test_states_credit_the_call_that_made_the_difference() -> None:
    group = [leaf(["met 1", "won"], 1.0), leaf(["met 2", "lost"], 0.0)]
    [won, lost] = [values for _, values in METHODS["states"].credit(group)]
    # The episodes differ by as much in their first call, and what the states say of it is nothing.
    assert won[0] == pytest.approx(-lost[0])
    assert won[1] > won[0] > 0 > lost[0] > lost[1]


def test_what_leaves_share_is_learned_once() -> None:
    learner = Learner(initial_parameters(jax.random.key(0), SHAPE, 20), SHAPE, 1e-2, None, 1)
    learner.update(by_group([leaf(["0", "1"], 1.0), leaf(["0", "2"], 0.0, 1)]))
    # Two turns of the first leaf, of three tokens each. The second turn of the other one is the same sequence.
    assert learner.trained_tokens == 6


def played(parameters: Parameters, number: int) -> list[Rollout]:
    """Returns four groups of eight episodes of one call, which earn 1 if its first token is 7."""
    completions = sample(parameters, SHAPE, [(1, 5, 2)] * 32, jax.random.key(number), range(32), 2)
    return [
        Rollout(
            str(index // 8),
            [Turn((1, 5, 2), tuple(completion.tokens), tuple(completion.log_probabilities))],
            [Outcome(float(completion.tokens[0] == 7), 0.0, False)],
            float(completion.tokens[0] == 7),
        )
        for index, completion in enumerate(completions)
    ]


def test_what_is_drawn_does_not_depend_on_the_rest_of_the_batch() -> None:
    parameters = initial_parameters(jax.random.key(0), SHAPE, 20)
    contexts = [(1, *[5] * (number % 70), 2) for number in range(80)]
    together = sample(parameters, SHAPE, contexts, jax.random.key(1), range(80), 4)
    for number in (0, 7, 69, 79):
        [alone] = sample(parameters, SHAPE, [contexts[number]], jax.random.key(1), [number], 4)
        assert alone.tokens == together[number].tokens


def test_the_sampler_and_the_learner_compute_the_same_probabilities() -> None:
    parameters = initial_parameters(jax.random.key(0), SHAPE, 20)
    for rollout in played(parameters, 0):
        [sequence] = sequences_of(rollout.turns)
        logs = log_probabilities(parameters, SHAPE, numpy.array([sequence.tokens]))
        drawn = len(rollout.turns[0].call)
        assert numpy.asarray(logs)[0, -drawn:] == pytest.approx(rollout.turns[0].log_probabilities, abs=1e-5)


def test_grpo_finds_what_is_rewarded_and_gives_the_same_parameters_again() -> None:
    def trained() -> Learner:
        learner = Learner(initial_parameters(jax.random.key(0), SHAPE, 20), SHAPE, 1e-2, 30, 2)
        for number in range(30):
            learner.update(by_turn(played(learner.parameters, number)))
        return learner

    first, second = trained(), trained()
    assert hash_of(first.parameters) == hash_of(second.parameters)
    assert sum(rollout.total or 0 for rollout in played(first.parameters, 99)) >= 24


def program(world: str, credit: str, folder: Path) -> subprocess.Popen[str]:
    """Starts a short training."""
    program = Path(__file__).parents[1] / "examples/language_model/train.py"
    return subprocess.Popen(
        [sys.executable, "-B", str(program), world, "--credit", credit, "--smoke", "--out", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


def trained(world: str, credit: str, folder: Path) -> list[dict[str, Any]]:
    """Returns the lines of a short training, without what it cost."""
    with program(world, credit, folder) as process:
        process.communicate()
    assert process.returncode == 0
    text = (folder / f"{world}-{credit}-1" / "lines.jsonl").read_text()
    lines = [json.loads(line) for line in text.rstrip("\n").split("\n")]
    return [{key: value for key, value in line.items() if not key.endswith("seconds")} for line in lines]


def test_a_training_that_is_killed_after_each_iteration_ends_with_equal_bits(tmp_path: Path) -> None:
    whole = trained("frozen-lake", "trees", tmp_path / "whole")
    # The compiled programs are the same.
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / "compiled").symlink_to(tmp_path / "whole" / "compiled")
    for iteration in (1, 2):
        with program("frozen-lake", "trees", tmp_path / "killed") as process:
            assert process.stdout is not None
            assert any(json.loads(line).get("iteration") == iteration for line in process.stdout if line[0] == "{")
            process.kill()
    assert trained("frozen-lake", "trees", tmp_path / "killed") == whole
    assert [line["kind"] for line in whole[-4:]] == ["iteration", "iteration", "evaluation", "end"]
    assert len(whole[-1]["sha256"]) == 64


def test_groups_that_trees_cannot_fill_are_refused() -> None:
    train = Path(__file__).parents[1] / "examples/language_model/train.py"
    arguments = ["frozen-lake", "--credit", "trees", "--group-size", "12"]
    refused = subprocess.run([sys.executable, train, *arguments], capture_output=True, text=True)
    assert (refused.returncode, "8 leaves" in refused.stderr) == (2, True)
