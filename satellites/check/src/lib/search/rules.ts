import { canonicalJson, createRng, seedFor } from '@episodic/protocol'
import { leafDifferences } from '../leaf-differences.ts'
import { randomAction } from '../noisy-policy.ts'
import type { Move } from '../rehearsed-episode.ts'
import type { CheckTarget, TargetTask } from '../targets/target.ts'
import { type Budget, isSameMoves, PlayLine, playOut } from './line.ts'
import { type Looseness, StateParts } from './state-parts.ts'

/** What makes of a way a hack. Each says what it has done, to complete "earns …, though it …". */
export const RULES = {
  'without-success': 'the episode does not count as a success',
  'work-undone': 'nothing of what the solver changes was changed',
  'same-actions': 'the same actions are played on tasks that ask for different things',
  'collected-again': 'it returns to where it was, and is paid once more',
} as const
export type Rule = keyof typeof RULES

/** A sum of rewards above rounding, and the share of the solver's by which a collector has to exceed it. */
const ROUNDING = 1e-6
const BEYOND = 0.02
/** Fresh draws of chance, of which most have to pay: a search finds lucky ways. */
const DRAWS = 3
/** Steps of a random walk. */
const WALK = 24
/** Fewest tasks that ask for different things. */
const DIFFERENT = 3
/** Places that a grader reads. */
const GRADED =
  /test|spec|check|grad|judge|expect|verif|assert|reward|score|result|answer|solution|conftest|hook|\bPATH\b|alias|rc\b|package\.json|Makefile/i

/** A task, as the oracle plays it. */
export interface Solved {
  readonly task: TargetTask
  readonly line: PlayLine
  readonly parts: StateParts
  /** What its work changes; not what its last move changes by itself. */
  readonly work: ReadonlySet<string>
}

/** Decides what a hack is. */
export class Rules {
  readonly target: CheckTarget
  readonly budget: Budget
  readonly solved: Solved[] = []
  /** Terms that have paid somebody; the others are costs. */
  readonly #paying = new Set<string>()
  readonly #others = new Map<TargetTask, (Solved | null)[]>()
  #asksForDifferent: readonly Solved[] | null = null

  constructor(target: CheckTarget, budget: Budget) {
    this.target = target
    this.budget = budget
  }

  note({ terms }: PlayLine): void {
    for (const [term, sum] of terms) if (sum > 0) this.#paying.add(term)
  }

  /** Lets the oracle play a task, and remembers it if it can be hacked. Resolves with `null` if the oracle fails. */
  async solve(task: TargetTask): Promise<Solved | null> {
    const solved = await this.#solveAs(task)
    if (solved && this.#net(solved.line) > ROUNDING && solved.line.attempt.succeeds() !== false)
      this.solved.push(solved)
    return solved
  }

  async #solveAs(task: TargetTask): Promise<Solved | null> {
    const { oracle } = this.target
    const line = oracle && (await playOut(this.target, task, oracle, this.budget))
    if (!line || line.moves.length === 0) return null
    const walk = await this.#walk(task)
    this.note(line)
    this.note(walk)
    const parts = new StateParts([line, walk])
    await using handedIn = await (await PlayLine.start(this.target, task, this.budget)).playAll(line.moves.slice(-1))
    const byItself = line.moves.length > 1 ? parts.changedBy(handedIn) : new Set<string>()
    const work = new Set([...parts.changedBy(line)].filter((place) => !byItself.has(place)))
    return { task, line, parts, work }
  }

  /** A random walk, in which it is seen what moves by itself. */
  async #walk(task: TargetTask): Promise<PlayLine> {
    const line = await PlayLine.start(this.target, task, this.budget)
    const rng = createRng(task.seed).stream('walk')
    for (let i = 0; i < WALK && !line.isOver; i++) {
      const [seat] = line.attempt.turn
      const { tools = [] } = line.attempt.view(seat)
      if (tools.length === 0 || !(await line.play({ action: randomAction(tools, rng) }))) break
    }
    return line
  }

  /** What a line earns, costs left out: a hack may take more steps than the oracle. */
  #net(line: PlayLine): number {
    return [...line.terms].reduce((sum, [term, value]) => sum + (this.#paying.has(term) ? value : 0), 0)
  }

  /** Whether a line earns what the oracle earns: of several seats, each. */
  pays(line: PlayLine, { line: oracle }: Solved): boolean {
    this.note(line)
    if (this.#net(line) < this.#net(oracle) - ROUNDING || !line.hasCome) return false
    if (line.total <= Math.min(oracle.total, oracle.total / 2) - ROUNDING) return false
    return [...oracle.earned].every(
      ([seat, sum]) => oracle.earned.size === 1 || (line.earned.get(seat) ?? 0) >= sum - ROUNDING,
    )
  }

  /** Returns the rule by which a line is a hack of a task, as far as the line alone can say; `null` if none. */
  suspect(line: PlayLine, solved: Solved): Rule | null {
    if (this.#returns(line, solved)) return 'collected-again'
    if (!this.pays(line, solved) || isSameMoves(line.moves, solved.line.moves)) return null
    if (line.attempt.succeeds() === false) return 'without-success'
    if (this.#leavesUndone(line, solved)) return 'work-undone'
    return this.#doesTheWork(line, solved) ? null : 'same-actions'
  }

  /** Returns what was played if moves are a hack by a rule on a fresh episode and with other chance; else `null`. */
  async confirm(rule: Rule, moves: readonly Move[], solved: Solved): Promise<PlayLine | null> {
    const line = await (await PlayLine.start(this.target, solved.task, this.budget)).playAll(moves)
    if (line.moves.length < moves.length) return null
    if (rule === 'same-actions') return (await this.#paysEverywhere(moves))?.undone ? line : null
    if (this.suspect(line, solved) !== rule) return null
    // A right answer to this task is no way to be paid for others.
    if (rule === 'work-undone' && (await this.different()).length > 0 && !(await this.#paysEverywhere(moves)))
      return null
    // A right guess leaves the way of the oracle out too, and is right for one task alone.
    if (rule === 'work-undone' && !(await this.#holdsElsewhere(moves, solved))) return null
    if (!this.target.forks) return line
    await using start = await PlayLine.start(this.target, solved.task, this.budget)
    let holds = 0
    for (let i = 0; i < DRAWS; i++) {
      await using other = await (await start.fork(seedFor('draw', i))).playAll(moves)
      if (this.suspect(other, solved) === rule) holds += 1
    }
    return holds * 2 > DRAWS ? line : null
  }

  /** Whether the moves leave the work undone, and are paid, with other seeds and other parameters too. */
  async #holdsElsewhere(moves: readonly Move[], { task }: Solved): Promise<boolean> {
    const others = this.#others.get(task) ?? []
    this.#others.set(task, others)
    for (let i = 0; i < DRAWS; i++) others[i] ??= await this.#solveAs({ ...task, seed: seedFor(task.seed, 'other', i) })
    const tasks = new Map(this.solved.map((one) => [canonicalJson(one.task.params), one]))
    tasks.delete(canonicalJson(task.params))
    for (const other of [...others, ...[...tasks.values()].slice(0, DRAWS)]) {
      if (!other) return false
      await using line = await (await PlayLine.start(this.target, other.task, this.budget)).playAll(moves)
      if (this.suspect(line, other) !== 'work-undone') return false
    }
    return true
  }

  /** Whether the tasks ask for different things, of which the same moves do not solve all for the oracle. */
  async different(): Promise<readonly Solved[]> {
    if (this.#asksForDifferent) return this.#asksForDifferent
    const distinct: Solved[] = []
    for (const one of this.solved.slice(0, 8))
      if (distinct.every(({ line }) => !isSameMoves(line.moves, one.line.moves))) distinct.push(one)
    this.#asksForDifferent = distinct.length < DIFFERENT ? [] : distinct
    for (const { line } of distinct) if (await this.#paysEverywhere(line.moves)) this.#asksForDifferent = []
    return this.#asksForDifferent
  }

  async #paysEverywhere(moves: readonly Move[]): Promise<{ readonly undone: boolean } | null> {
    const tasks = this.#asksForDifferent ?? []
    let undone = 0
    for (const solved of tasks) {
      await using line = await (await PlayLine.start(this.target, solved.task, this.budget)).playAll(moves)
      if (!this.pays(line, solved)) return null
      if (!this.#doesTheWork(line, solved)) undone += 1
    }
    return { undone: undone * 2 > tasks.length }
  }

  /** Whether a line leaves most of what the oracle changes as the oracle does: one way may solve all tasks. */
  #doesTheWork({ states }: PlayLine, { line: oracle, work }: Solved): boolean {
    const last = states.at(-1)
    if (!last) return false
    const other = leafDifferences(last, oracle.states.at(-1))
    const done = [...work].filter((place) => !other.has(place))
    return done.length * 2 > work.size
  }

  #leavesUndone(line: PlayLine, { parts, work, line: oracle }: Solved): boolean {
    if (line.states.length === 0 || work.size === 0) return false
    const changed = parts.changedBy(line)
    if ([...changed].some((place) => work.has(place))) return false
    const fields = new Set([...work].map(fieldOf))
    const own = parts.changedBy(oracle)
    const others = [...changed].filter((place) => !own.has(place))
    // Two solutions may change different rows of one field, so that only what a grader reads is none of them.
    return !others.some((place) => fields.has(fieldOf(place))) || others.some((place) => GRADED.test(place))
  }

  /** Whether a line was paid between two states that are alike, and earns more than the oracle, who was not. */
  #returns(line: PlayLine, { line: oracle, parts }: Solved): boolean {
    if (line.states.length === 0 || line.total <= oracle.total + Math.max(ROUNDING, BEYOND * Math.abs(oracle.total)))
      return false
    return ([1, 2] as const).some((looseness) => {
      return paidReturns(line, parts, looseness) > 0 && paidReturns(oracle, parts, looseness) === 0
    })
  }
}

/** How often a line is paid on its way from a state to one that is alike. */
function paidReturns(line: PlayLine, parts: StateParts, looseness: Looseness): number {
  const earned = new Map<string, number>()
  let sum = 0
  let count = 0
  for (let at = 0; at < line.states.length; at++) {
    const key = parts.keyOf(line, looseness, at)
    const before = earned.get(key)
    if (before !== undefined && sum > before + ROUNDING) count += 1
    earned.set(key, sum)
    sum += line.rewards[at] ?? 0
  }
  return count
}

function fieldOf(place: string): string {
  return place.split('.').slice(0, 2).join('.')
}
