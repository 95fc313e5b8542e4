import type { EpisodeRecord } from '@episodic/protocol'
import { branchAt } from './branch-place.ts'

/** Knows which answers of forked episodes are learned already: forks share those before them, with their tokens. */
export class LearnedAnswers {
  /** By task and tree, the ways between two forks. */
  readonly #known = new Set<string>()

  /** Adds an episode. Returns the numbers of its answers that an earlier one has. */
  add(record: EpisodeRecord): ReadonlySet<number> {
    const { branch, task, steps, undecided = [] } = record
    if (!branch) return new Set()
    const places = steps.flatMap(({ completions = [] }, step) => completions.map(() => branchAt(record, step)))
    // What came after the last step is of the whole way.
    places.push(...undecided.map(() => branch.path))
    const keys = places.map((place) => `${branch.rollout} ${place.join()} ${task.id}`)
    const elsewhere = keys.flatMap((key, answer) => (this.#known.has(key) ? [answer] : []))
    for (const key of keys) this.#known.add(key)
    return new Set(elsewhere)
  }
}
