import { definePolicy, type Policy } from '@episodic/env'
import { rehearse } from '@episodic/mcp-server'
import { type Action, type Json, seedFor } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { CheckedWorld, Setting } from '../check-context.ts'
import { type LeafDifference, leafDifferences } from '../leaf-differences.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { type EpisodeStart, playMove, rewardOf, startEpisode } from '../rehearsed-episode.ts'

/**
 * Actions that return to a state where the player was before, and earn more than 0 in total each time. A player who
 * only repeats them makes no progress, and earns the more the longer the episode may be. A shaping reward that is a
 * difference of potentials has no such cycle: Ng, Harada & Russell, "Policy invariance under reward transformations"
 * (1999).
 */
export interface RewardCycle {
  readonly before: readonly Action[]
  readonly actions: readonly Action[]
  readonly earned: number
}

/** Episodes that are searched, half of them of random play and half of the solver with random actions. */
export const WALKS = 16
/** Steps of such an episode, and of a cycle. */
const LONGEST_WALK = 60
const LONGEST_CYCLE = 12
/** How often a cycle has to pay in a row. Once may be chance. */
const ROUNDS = 3
/** A sum of rewards above rounding. */
const PAID = 1e-6

export async function findRewardCycle(
  { environment, solver = null }: CheckedWorld,
  { setting, seed }: { readonly setting: Setting; readonly seed: string },
  walks = WALKS,
): Promise<RewardCycle | null> {
  const random = noisyPolicy(null, { random: 1, invalid: 0 })
  const nearSolver = noisyPolicy(solver, { random: 0.4, invalid: 0 })
  const candidates: RewardCycle[] = []
  for (let walk = 0; walk < walks; walk++) {
    const walker = walk % 2 === 0 ? random : nearSolver
    // A new seed each time, so that repeated walks through the same episode differ.
    const own = seedFor(seed, 'walk', walk)
    const policy: Policy = { ...walker, start: (context) => walker.start({ ...context, seed: own }) }
    const ongoing = await startEpisode({ environment, setting, seed, policy, maxSteps: LONGEST_WALK })
    const { rehearsal } = ongoing.episode
    const states: SessionState[] = [rehearsal.state]
    while (await ongoing.advance()) states.push(rehearsal.state)
    candidates.push(...cyclesOf(statesWithoutCounters(states), ongoing.episode.steps))
  }
  const rate = ({ earned, actions }: RewardCycle) => earned / actions.length
  const best = candidates.toSorted((a, b) => rate(b) - rate(a) || a.before.length - b.before.length)
  for (const cycle of best.slice(0, walks)) if (await paysAgain(cycle, { environment, setting, seed })) return cycle
  return null
}

function cyclesOf(
  states: readonly string[],
  steps: readonly { readonly action: Action; readonly reward: number; readonly end: object | null }[],
): RewardCycle[] {
  const played = steps.map(({ action }) => action)
  return steps.flatMap(({ end }, last) => {
    if (end) return []
    let best: RewardCycle | null = null
    let earned = 0
    for (let first = last; first >= 0 && last - first < LONGEST_CYCLE; first--) {
      earned += (steps[first] as (typeof steps)[number]).reward
      if (states[first] !== states[last + 1] || earned <= PAID) continue
      const length = last - first + 1
      if (best && earned / length <= best.earned / best.actions.length) continue
      best = { before: played.slice(0, first), actions: played.slice(first, last + 1), earned }
    }
    return best ? [best] : []
  })
}

type Changes = ReadonlyMap<string, LeafDifference>

/**
 * Returns each state of a walk as a text, without the numbers in it that count steps: those that change by the same
 * amount with every step that is not refused. What a state has in common with the first of the walk is left out.
 */
function statesWithoutCounters(states: readonly SessionState[]): string[] {
  const [begun] = states
  const changes = states.map((state) => leafDifferences(begun, state))
  // A refused step leaves the very same state.
  const changed = states.flatMap((state, i) => (state === states[i - 1] ? [] : [changes[i] as Changes]))
  const before = new Map(changes.flatMap((each) => [...each].map(([path, { from }]) => [path, from] as const)))
  const valueIn = (each: Changes, path: string) => (each.has(path) ? each.get(path)?.to : before.get(path))
  const counters = new Set<string>()
  const [first, second] = changed
  for (const path of second?.keys() ?? []) {
    const by = differenceOf(valueIn(first as Changes, path), valueIn(second as Changes, path))
    const counts = changed.every(
      (at, i) => i === 0 || differenceOf(valueIn(changed[i - 1] as Changes, path), valueIn(at, path)) === by,
    )
    if (by !== 0 && counts) counters.add(path)
  }
  const textOfChanges = (each: Changes) =>
    JSON.stringify([...each].flatMap(([path, { to }]) => (counters.has(path) ? [] : [[path, to ?? null]])).sort())
  return changes.map(textOfChanges)
}

function differenceOf(before: Json | undefined, after: Json | undefined): number {
  return typeof before === 'number' && typeof after === 'number' ? after - before : 0
}

async function paysAgain({ before, actions }: RewardCycle, start: EpisodeStart): Promise<boolean> {
  const { environment, seed } = start
  const { params, steps: most } = start.setting
  if (before.length + ROUNDS * actions.length > most) return false
  const rehearsal = rehearse(environment, { params, seed })
  const seat = environment.seats[0] as string
  const play = async (all: readonly Action[]) => {
    let sum = 0
    for (const action of all) sum += rewardOf(await playMove(rehearsal, { seat, action }))
    return sum
  }
  try {
    await play(before)
    for (let round = 0; round < ROUNDS; round++)
      if ((await play(actions)) <= PAID || rehearsal.end !== null) return false
    return true
  } catch {
    return false
  }
}

export function cyclePolicy(cycle: RewardCycle | null): Policy | null {
  if (!cycle) return null
  const { before, actions } = cycle
  return definePolicy({
    name: 'cycle',
    start() {
      let played = 0
      return () => {
        const at = played++
        return (before[at] ?? actions[(at - before.length) % actions.length]) as Action
      }
    },
  })
}

export function formatCycle({ before, actions, earned }: RewardCycle): string {
  const calls = actions.map(({ tool, arguments: args }) => `${tool} ${JSON.stringify(args)}`).join(', ')
  return `for example after ${before.length} steps: ${calls} returns to the same state and earns ${Number(earned.toFixed(6))} each time`
}
