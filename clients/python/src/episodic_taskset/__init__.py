"""The taskset under a name of one word, by which verifiers imports it."""

from episodic_env.verifiers import EpisodicTaskset

__all__ = ["EpisodicTaskset"]
