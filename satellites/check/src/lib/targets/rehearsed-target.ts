import {
  type EnvironmentDefinition,
  type Rehearsal,
  type RehearsedStep,
  rehearse,
  type Tool,
} from '@episodic/mcp-server'
import { type JsonObject, seedFor } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { CheckContext, Setting } from '../check-context.ts'
import { playMove, returnsOf, rewardOf, truncationAt } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { SeatTable } from './seat-table.ts'
import type { Attempt, CheckTarget, TargetTask } from './target.ts'

/** Returns a world of ours as a target: its rules are played alone, `strict` or not, and a fork costs no step. */
export function rehearsedTarget(
  { world: { environment, solver = null }, settings, seed }: Pick<CheckContext, 'world' | 'settings' | 'seed'>,
  count: number,
  strict = false,
): CheckTarget {
  const { name, version, seats } = environment
  const tasks = Array.from({ length: count }, (_, i): TargetTask => {
    const { task, ...setting } = settings[i % settings.length] as Setting
    const { id = `start-${i}`, seats } = task ?? {}
    return { id, seed: seedFor(seed, 'exploits', i), ...setting, ...(seats && { seats }) }
  })
  const open = async (task: TargetTask) => {
    const rehearsal = rehearse(environment, { params: task.params, seed: task.seed, strict })
    return rehearsedAttempt(environment, task, rehearsal, rehearsal.turn, [])
  }
  return {
    ...{ name, version, seats, tasks, open, openBeside: open, forks: true, isOwn: true },
    ...cheatsOf(environment),
    oracle: solver,
    [Symbol.asyncDispose]: async () => {},
  }
}

/** What a tool brings that knows how its world can be cheated; the package that makes it has the same name for it. */
const CHEATS = Symbol.for('episodic.attacks')

type BringsCheats = Tool & {
  /** Returns cheats by a tool of this name, from the private state at the start and after the solver's work. */
  readonly [CHEATS]?: (tool: string, start: unknown, solved: unknown) => ReturnType<NonNullable<CheckTarget['cheats']>>
}

function cheatsOf({ tools, toolInfos }: EnvironmentDefinition): Pick<CheckTarget, 'cheats'> {
  for (const { name } of toolInfos) {
    const cheats = (tools[name] as BringsCheats)[CHEATS]
    const hidden = (state: object) => (state as SessionState).private
    if (cheats) return { cheats: (start, solved) => cheats(name, hidden(start), hidden(solved)) }
  }
  return {}
}

type Played = RehearsedStep & { readonly seat: string }

function rehearsedAttempt(
  environment: EnvironmentDefinition,
  task: TargetTask,
  rehearsal: Rehearsal,
  firstTurn: readonly string[],
  before: readonly Played[],
): Attempt {
  const { hasSuccess, hasLegal, seats } = environment
  const played = [...before]
  /** Made once somebody looks, because a search looks at few states. */
  let table: SeatTable | null = null
  const seated = () => {
    const made = new SeatTable(environment, { start: rehearsal.start, turn: firstTurn })
    for (const { seat, ...step } of played) made.take(seat, step)
    return made
  }
  return {
    start: rehearsal.start,
    get turn() {
      return rehearsal.turn
    },
    get end() {
      return rehearsal.end
    },
    get state() {
      return rehearsal.state as unknown as JsonObject
    },
    succeeds(seat) {
      if (!hasSuccess) return null
      const end = rehearsal.end ?? { kind: 'truncated', reason: 'closed' }
      return (seat ? [seat] : seats).every((one) => rehearsal.evaluate(end, one).success === true)
    },
    view(seat = seats[0] as string) {
      table ??= seated()
      const { observation, ...seen } = table.seenBy(seat)
      const legal = async () => environment.legal(rehearsal.state, task.params, seat)
      const tools = toolsOfSeat(environment, seat, observation)
      return { ...seen, observation, tools, legal: hasLegal ? legal : undefined }
    },
    async step(action, seat = rehearsal.turn[0] as string) {
      const own = played.filter((step) => step.seat === seat).length
      const step = await playMove(rehearsal, { seat, action }, truncationAt(own, task))
      played.push({ ...step, seat })
      table?.take(seat, step)
      const { terms, refused, observation, end } = step
      const rewards = returnsOf({ ...step, seat })
      return { reward: rewardOf(step), rewards, terms, refused, observation, end, whole: step }
    },
    async fork(seed) {
      const fork = rehearsal.fork()
      if (seed !== undefined) fork.reseed(seed)
      return rehearsedAttempt(environment, task, fork, firstTurn, played)
    },
    async [Symbol.asyncDispose]() {},
  }
}
