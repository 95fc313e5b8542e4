import { rehearse } from '@episodic/mcp-server'
import { type JsonObject, type Rng, seedFor } from '@episodic/protocol'
import { beginningsOf } from '../private-pairs.ts'
import { rewardOf, truncationAt } from '../rehearsed-episode.ts'
import type { CheckedWorld, Setting } from '../subject.ts'
import type { DiscreteActions } from './discrete-actions.ts'
import type { Experience } from './tabular-learner.ts'

/** Longest episode of a learner. */
const LONGEST = 120
/** Beginnings that a learner is measured on. */
const MEASURED = 48
/** Private states of one public state that a learner meets, where it cannot meet all. */
const PRIVATE_STATES = 12

/** How one episode begins. */
export interface TableStart {
  readonly seed: string
  readonly privateState?: JsonObject
}

/** Where a table is learned: a world with few actions, and what of its public state names a row. */
export interface TableWorld {
  readonly world: CheckedWorld
  readonly setting: Setting
  readonly actions: DiscreteActions['actions']
  readonly features: (state: JsonObject) => string
}

export interface Rollout {
  /** What happened, its rewards shaped where the world has a potential. */
  readonly episode: readonly Experience[]
  /** Where it was cut off; `null` where the rules ended it. */
  readonly next: string | null
  /** The unshaped return. */
  readonly total: number
}

/**
 * Beginnings to learn on and to measure on. Where all seeds begin with the same public state, they are seeds that are
 * met but once, and those measured on are unseen; otherwise they are one public state with the private states of a few
 * other seeds, the same for both: a table knows nothing of a floor that it has never seen.
 */
export function tableStarts({ environment }: CheckedWorld, setting: Setting, seed: string) {
  const found = beginningsOf(environment, setting, seedFor(seed, 'learnability'), MEASURED)
  const [first] = found
  const publicStarts = new Set(found.map(({ publicText }) => publicText))
  if (publicStarts.size === 1 || !first)
    return {
      unseen: true,
      measured: Array.from({ length: MEASURED }, (_, i): TableStart => ({ seed: seedFor(seed, 'measured', i) })),
      next: (rng: Rng): TableStart => ({ seed: seedFor(seed, 'practice', rng.int(0, 1_000_000_000)) }),
    }
  const swapped = found
    .filter(({ movable }) => movable)
    .map((one): TableStart => ({ seed: first.seed, privateState: one.private }))
  const met = swapped.slice(0, PRIVATE_STATES)
  const measured = Array.from({ length: MEASURED }, (_, i) => met[i % met.length] as TableStart)
  return { unseen: false, measured, next: (rng: Rng): TableStart => rng.pick(met) }
}

/** Plays one episode by the number of an action for the key of each state. */
export function rollOut(
  { world: { environment }, setting, actions, features }: TableWorld,
  start: TableStart,
  choose: (state: string) => number,
): Rollout {
  const rehearsal = rehearse(environment, { params: setting.params, ...start })
  const episode: Experience[] = []
  let potential = rehearsal.start.potential ?? 0
  let total = 0
  let state = features(rehearsal.state.public)
  while (rehearsal.end === null && episode.length < Math.min(setting.steps, LONGEST)) {
    const action = choose(state)
    const { tool, arguments: args } = actions[action] as DiscreteActions['actions'][number]
    const step = rehearsal.play(tool, args, { truncation: truncationAt(episode.length, setting) })
    const after = step.end?.kind === 'terminated' ? 0 : (step.potential ?? 0)
    const reward = rewardOf(step)
    total += reward
    episode.push({ state, action, reward: reward + after - potential })
    potential = after
    state = features(rehearsal.state.public)
  }
  return { episode, next: rehearsal.end?.kind === 'terminated' ? null : state, total }
}

/** The public states of a few episodes of random play. */
export function randomWalks({ environment }: CheckedWorld, setting: Setting, actions: TableWorld['actions'], rng: Rng) {
  return Array.from({ length: WALKS }, (_, i) => {
    const rehearsal = rehearse(environment, { params: setting.params, seed: `walk ${i}` })
    const walk: JsonObject[] = [rehearsal.state.public]
    while (rehearsal.end === null && walk.length < Math.min(setting.steps, LONGEST)) {
      const { tool, arguments: args } = rng.pick(actions)
      // A refused step moves no clock.
      if (!rehearsal.play(tool, args).refused) walk.push(rehearsal.state.public)
      else if (rng.chance(0.05)) break
    }
    return walk
  })
}
const WALKS = 20
