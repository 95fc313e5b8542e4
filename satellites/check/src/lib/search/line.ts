import { type Player, PlayerStop, type Policy } from '@episodic/env'
import { type Action, canonicalJson, type Json } from '@episodic/protocol'
import type { Move } from '../rehearsed-episode.ts'
import { startSeat } from '../seat-players.ts'
import type { Attempt, AttemptStep, CheckTarget, TargetTask } from '../targets/target.ts'

export type Budget = ReturnType<typeof createBudget>

/** Counts the steps that a search may still play, of all its lines. */
export function createBudget(left: number, isOver: (share: number) => boolean = () => false) {
  return {
    left,
    /** The share of the time after which it is late. */
    until: 1,
    get isLate(): boolean {
      return isOver(this.until)
    },
    get isSpent(): boolean {
      return this.left <= 0 || this.isLate
    },
  }
}

/** An episode as far as it was played, with what it earned. */
export class PlayLine {
  readonly target: CheckTarget
  readonly task: TargetTask
  readonly attempt: Attempt
  readonly budget: Budget
  readonly moves: Move[] = []
  /** The states from the start on; what is seen of them where the target shows none. */
  readonly states: object[] = []
  readonly rewards: number[] = []
  /** The sums of the terms, of all seats; of a target without terms, of its rewards. */
  readonly terms = new Map<string, number>()
  readonly earned = new Map<string, number>()
  readonly steps: AttemptStep[] = []
  /** The move that could not be played, and what the rules threw. */
  failure: { readonly move: Move; readonly error: Error } | null = null

  private constructor(target: CheckTarget, task: TargetTask, attempt: Attempt, budget: Budget) {
    this.target = target
    this.task = task
    this.attempt = attempt
    this.budget = budget
  }

  static async start(target: CheckTarget, task: TargetTask, budget: Budget): Promise<PlayLine> {
    const line = new PlayLine(target, task, await target.open(task), budget)
    line.states.push(line.attempt.state ?? shownIn(line.attempt.view().observation.text))
    return line
  }

  get last(): AttemptStep | null {
    return this.steps.at(-1) ?? null
  }

  get total(): number {
    return this.rewards.reduce((sum, reward) => sum + reward, 0)
  }

  /** Whether something was paid to it, or the rules have ended it: who only leaves has avoided costs, and no more. */
  get hasCome(): boolean {
    return this.attempt.end?.kind === 'terminated' || this.rewards.some((reward) => reward > 0)
  }

  get isOver(): boolean {
    return this.attempt.end !== null || this.attempt.turn.length === 0
  }

  /** Plays a move; `false` if the episode is over or the rules throw. */
  async play({ action, seat }: { readonly action: Action; readonly seat?: string }): Promise<boolean> {
    const mover = seat ?? this.attempt.turn[0]
    if (this.isOver || mover === undefined || !this.attempt.turn.includes(mover)) return false
    this.budget.left -= 1
    try {
      const step = await this.attempt.step(action, mover)
      this.steps.push(step)
      this.moves.push({ action, seat: mover })
      this.states.push(this.attempt.state ?? shownIn(step.observation.text))
      this.rewards.push(Object.values(step.rewards).reduce((sum, reward) => sum + reward, 0))
      const terms = Object.keys(step.terms).length > 0 ? step.terms : { reward: step.reward }
      for (const [term, value] of Object.entries(terms)) this.terms.set(term, (this.terms.get(term) ?? 0) + value)
      for (const [one, value] of Object.entries(step.rewards)) {
        this.earned.set(one, (this.earned.get(one) ?? 0) + value)
        if (one !== mover) this.terms.set('of others', (this.terms.get('of others') ?? 0) + value)
      }
      return true
    } catch (error) {
      this.failure = { move: { action, seat: mover }, error: error as Error }
      return false
    }
  }

  async playAll(moves: Iterable<Move>): Promise<this> {
    for (const move of moves) if (!(await this.play(move))) break
    return this
  }

  /** @param seed - draws chance anew from here on, where the target can. */
  async fork(seed?: string): Promise<PlayLine> {
    if (!this.target.forks) this.budget.left -= this.moves.length
    const line = new PlayLine(this.target, this.task, await this.attempt.fork(seed), this.budget)
    const { moves, states, rewards, steps, terms, earned } = this
    const copied = { moves: [...moves], states: [...states], rewards: [...rewards], steps: [...steps] }
    return Object.assign(line, copied, { terms: new Map(terms), earned: new Map(earned) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.attempt[Symbol.asyncDispose]()
  }
}

/** Lets a policy play every seat, to the end or for so many moves, by a seed. Rejects with what the policy throws. */
export async function playOut(
  line: PlayLine,
  policy: Policy,
  most = Number.POSITIVE_INFINITY,
  seed = line.task.seed,
): Promise<PlayLine> {
  const { target, task, attempt, budget } = line
  const players = new Map<string, Player>()
  try {
    while (!line.isOver && line.moves.length < most && !budget.isLate) {
      const seat = attempt.turn[0] as string
      const { observation, ...view } = attempt.view(seat)
      const named = target.seats.length > 1 ? seat : undefined
      const player =
        players.get(seat) ??
        (await startSeat(policy, { ...task, ...task.seats?.[seat] }, view.tools ?? [], seed, named))
      players.set(seat, player)
      if (!(await line.play({ action: await player(observation, view), seat }))) break
    }
  } catch (error) {
    if (!PlayerStop.is(error)) throw error
  }
  return line
}

/** A text as a state: its words, and its numbers apart from them. */
function shownIn(text: string): object {
  return { text: text.replace(/\d+(\.\d+)?/g, '#'), numbers: (text.match(/\d+(\.\d+)?/g) ?? []).map(Number) }
}

export function isSameMoves(first: readonly Move[], second: readonly Move[]): boolean {
  return canonicalJson(first as unknown as Json) === canonicalJson(second as unknown as Json)
}
