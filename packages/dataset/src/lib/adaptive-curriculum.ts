import { createRng, seedFor, type Task } from '@episodic/protocol'
import { z } from 'zod'
import { assertInPool, basisOf, type Curriculum, createPool, restoreState } from './curriculum.ts'
import { optionsInvalid } from './dataset-error.ts'

/** How many of a task's latest outcomes are kept: older ones say little about the present learner. */
const REMEMBERED = 16

const adaptiveStateSchema = z.strictObject({
  format: z.literal(1),
  basis: z.string(),
  draws: z.int().min(0),
  tasks: z.record(
    z.string(),
    z.strictObject({
      /** The last outcomes, oldest first: `1` for a success, `0` for none. */
      outcomes: z.string().regex(/^[01]{0,16}$/),
      /** The number of the last draw that took the task, from 1; 0 for never. */
      drawn: z.int().min(0),
    }),
  ),
})

/** The saved state of an adaptive curriculum. Tasks that were never drawn or observed are left out. */
type AdaptiveState = Readonly<z.infer<typeof adaptiveStateSchema>>

export interface AdaptiveOptions {
  readonly seed: string
  /** The success rate to stay near, above 0 and below 1. Default: 0.5, where outcomes carry the most information. */
  readonly target?: number
  /** How many tasks, nearest the target, to draw from. Default: a tenth of them, rounded up. */
  readonly focus?: number
  /** The probability of drawing from all tasks instead, so that no estimate goes stale. Default: 0.1. */
  readonly explore?: number
  /** A state from `save()`. Default: no outcomes. */
  readonly state?: AdaptiveState | undefined
}

interface Entry {
  readonly task: Task
  outcomes: string
  drawn: number
  /** (p − target)² for the estimated success rate p. */
  distance: number
}

/**
 * Creates a curriculum that keeps to tasks which the learner solves about as often as `target` says. It never ends.
 *
 * The rule is *sampling for learnability*: draw evenly from the `focus` tasks of highest learnability p(1 − p), and
 * with probability `explore` from all tasks. (A. Rutherford et al., "No Regrets: Investigating and Improving Regret
 * Approximations for Curriculum Discovery", NeurIPS 2024, arXiv:2408.15099; see also G. Tzannetos et al., "Proximal
 * Curriculum for Reinforcement Learning Agents", 2023, arXiv:2304.12877.) As p(1 − p) = ¼ − (p − ½)², this ranks tasks
 * by the distance of p from ½; `target` replaces ½.
 *
 * p is estimated from the last n ≤ 16 outcomes as (successes + 2·target) / (n + 2), so a task that was never played
 * counts as on target and is tried. Among equals, the task drawn longest ago ranks first. Every task is tried before
 * the ranking settles, so the pool should be small compared to the number of episodes (`sampleTasks` makes one).
 *
 * @throws DatasetError `options-invalid`, `pool-invalid`, or `state-invalid` if the state is from another curriculum.
 */
export function createAdaptiveCurriculum(
  tasks: readonly Task[],
  { seed, target = 0.5, focus = Math.ceil(tasks.length / 10), explore = 0.1, state }: AdaptiveOptions,
): Curriculum<AdaptiveState> {
  const pool = createPool(tasks)
  assertSettings({ target, focus, explore })
  const basis = basisOf(pool, { seed, target, focus, explore })
  const saved = state ? restoreState(adaptiveStateSchema, state, basis) : null
  const known = new Map(Object.entries(saved?.tasks ?? {}))
  const entries = new Map<string, Entry>()
  for (const task of pool.values()) {
    const { outcomes, drawn } = known.get(task.id) ?? { outcomes: '', drawn: 0 }
    entries.set(task.id, { task, outcomes, drawn, distance: distanceOf(outcomes, target) })
  }
  const ranking = [...entries.values()]
  let draws = saved?.draws ?? 0
  return {
    next() {
      // Few ranks change between two draws, and sorting what is nearly sorted takes linear time.
      ranking.sort(byRank)
      const rng = createRng(seedFor(seed, 'draw', draws))
      const candidates = rng.chance(explore) ? ranking.length : Math.min(focus, ranking.length)
      const entry = ranking[rng.int(0, candidates - 1)] as Entry
      draws += 1
      entry.drawn = draws
      return entry.task
    },
    observe(taskId, success) {
      assertInPool(pool, taskId)
      const entry = entries.get(taskId) as Entry
      entry.outcomes = (entry.outcomes + (success ? '1' : '0')).slice(-REMEMBERED)
      entry.distance = distanceOf(entry.outcomes, target)
    },
    save() {
      const touched = [...entries].filter(([, { outcomes, drawn }]) => outcomes !== '' || drawn > 0)
      return {
        format: 1,
        basis,
        draws,
        tasks: Object.fromEntries(touched.map(([id, { outcomes, drawn }]) => [id, { outcomes, drawn }])),
      }
    },
  }
}

function distanceOf(outcomes: string, target: number): number {
  const successes = outcomes.replaceAll('0', '').length
  const rate = (successes + 2 * target) / (outcomes.length + 2)
  return (rate - target) ** 2
}

/** A total order, so that a restored curriculum ranks as the one that was saved. */
function byRank(a: Entry, b: Entry): number {
  return a.distance - b.distance || a.drawn - b.drawn || (a.task.id < b.task.id ? -1 : 1)
}

function assertSettings({ target, focus, explore }: Record<'target' | 'focus' | 'explore', number>): void {
  const complain = (rule: string): never => {
    throw optionsInvalid(`An adaptive curriculum has a wrong setting: ${rule}.`)
  }
  if (!(target > 0 && target < 1)) complain(`target must be above 0 and below 1, and is ${target}`)
  if (!(Number.isSafeInteger(focus) && focus >= 1)) complain(`focus must be a whole number from 1 up, and is ${focus}`)
  if (!(explore >= 0 && explore <= 1)) complain(`explore must be a probability, and is ${explore}`)
}
