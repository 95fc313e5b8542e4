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

/** Returns a world of ours as a target: its rules are played alone, and a fork costs no step. */
export function rehearsedTarget(
  { world: { environment, solver = null }, settings, seed }: Pick<CheckContext, 'world' | 'settings' | 'seed'>,
  count: number,
): CheckTarget {
  const { name, version, seats } = environment
  const tasks = Array.from({ length: count }, (_, i): TargetTask => {
    const { task, ...setting } = settings[i % settings.length] as Setting
    const { id = `start-${i}`, seats } = task ?? {}
    return { id, seed: seedFor(seed, 'exploits', i), ...setting, ...(seats && { seats }) }
  })
  return {
    ...{ name, version, seats, tasks },
    ...cheatsOf(environment),
    forks: true,
    oracle: solver,
    rewardRange: null,
    async open(task) {
      const rehearsal = rehearse(environment, { params: task.params, seed: task.seed })
      return new RehearsedAttempt(environment, task, rehearsal, rehearsal.turn, [])
    },
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

class RehearsedAttempt implements Attempt {
  readonly #environment: EnvironmentDefinition
  readonly #task: TargetTask
  readonly #rehearsal: Rehearsal
  readonly #firstTurn: readonly string[]
  readonly #played: Played[]
  /** Made once somebody looks, because a search looks at few states. */
  #table: SeatTable | null = null

  constructor(
    environment: EnvironmentDefinition,
    task: TargetTask,
    rehearsal: Rehearsal,
    firstTurn: readonly string[],
    played: readonly Played[],
  ) {
    this.#environment = environment
    this.#task = task
    this.#rehearsal = rehearsal
    this.#firstTurn = firstTurn
    this.#played = [...played]
  }

  get turn() {
    return this.#rehearsal.turn
  }

  get end() {
    return this.#rehearsal.end
  }

  get stateHash() {
    return this.#played.at(-1)?.stateHash ?? this.#rehearsal.stateHashAs(null)
  }

  get state() {
    return this.#rehearsal.state as unknown as JsonObject
  }

  succeeds(seat?: string) {
    const { hasSuccess, seats } = this.#environment
    if (!hasSuccess) return null
    const end = this.end ?? { kind: 'truncated', reason: 'closed' }
    return (seat ? [seat] : seats).every((one) => this.#rehearsal.evaluate(end, one).success === true)
  }

  view(seat = this.#environment.seats[0] as string) {
    this.#table ??= this.#seated()
    const { observation, ...seen } = this.#table.seenBy(seat)
    const { hasLegal } = this.#environment
    const legal = async () => this.#environment.legal(this.#rehearsal.state, this.#task.params, seat)
    const tools = toolsOfSeat(this.#environment, seat, observation)
    return { ...seen, observation, tools, legal: hasLegal ? legal : undefined }
  }

  #seated(): SeatTable {
    const table = new SeatTable(this.#environment, { start: this.#rehearsal.start, turn: this.#firstTurn })
    for (const { seat, ...step } of this.#played) table.take(seat, step)
    return table
  }

  async step(action: Parameters<Attempt['step']>[0], seat = this.turn[0] as string) {
    const own = this.#played.filter((step) => step.seat === seat).length
    const step = await playMove(this.#rehearsal, { seat, action }, truncationAt(own, this.#task))
    this.#played.push({ ...step, seat })
    this.#table?.take(seat, step)
    const { terms, refused, observation, end } = step
    return { reward: rewardOf(step), rewards: returnsOf({ ...step, seat }), terms, refused, observation, end }
  }

  async fork(seed?: string) {
    const rehearsal = this.#rehearsal.fork()
    if (seed !== undefined) rehearsal.reseed(seed)
    return new RehearsedAttempt(this.#environment, this.#task, rehearsal, this.#firstTurn, this.#played)
  }

  async [Symbol.asyncDispose]() {}
}
