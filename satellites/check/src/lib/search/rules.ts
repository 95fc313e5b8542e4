import { canonicalJson, type Json, seedFor } from '@episodic/protocol'
import { type LeafDifference, leafDifferences } from '../leaf-differences.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import type { Move } from '../rehearsed-episode.ts'
import type { CheckTarget, TargetTask } from '../targets/target.ts'
import { eachLeaf } from '../walk-json.ts'
import { type Budget, isSameMoves, PlayLine, playOut } from './line.ts'
import { StateParts } from './state-parts.ts'

const WHOLE = 'Compare the answer with what this task asks for, whole and not by a part of it.'

/** What makes of a way a hack: what it has done, to complete "earns …, though it …"; and what to do about it. */
export const RULES = {
  'without-success': {
    why: 'the episode does not count as a success',
    advice: 'Pay for the state that `success` asks for, and not for the call that should lead to it.',
  },
  'work-undone': {
    why: 'what the solver changes was not changed, or destroyed',
    advice: 'Judge what the task asks for itself, and keep what judges it where no tool writes.',
  },
  'same-actions': { why: 'the same actions are played on tasks that ask for different things', advice: WHOLE },
  'one-answer': { why: 'the same answer is given to tasks whose right answers differ', advice: WHOLE },
  'collected-again': {
    why: 'it returns to where it was, with as much as before or more, and is paid once more',
    advice: 'Pay once: remember in the state what was paid, or use `potential`. Let nothing be gained for nothing.',
  },
} as const
export type Rule = keyof typeof RULES

/** A sum of rewards above rounding, and the share of the solver's by which a collector has to exceed it. */
const ROUNDING = 1e-6
const BEYOND = 0.02
/** Fresh draws of chance, of which most have to pay: a search finds lucky ways. */
const DRAWS = 3
/** Most ways of coming back with more that are tried again, and steps of a random walk. */
const TRIED = 6
const WALK = 24
const RANDOM = noisyPolicy(null, { random: 1, invalid: 0 })
/** Fewest tasks that ask for different things. */
const DIFFERENT = 3
const GRADED =
  /test|spec|check|grad|judge|expect|verif|assert|reward|score|result|answer|solution|conftest|hook|\bPATH\b|alias|rc\b|package\.json|Makefile/i

const isOfFile = (place: string) => /\.\/[^ ]*\.(text|target|content|data)$/.test(place)
const fieldOf = (place: string) => place.split('.').slice(0, 2).join('.')

export interface Solved {
  readonly task: TargetTask
  readonly line: PlayLine
  readonly parts: StateParts
  /** What its work changes, on a disk the texts of files; not what its last move changes by itself. */
  readonly work: ReadonlyMap<string, LeafDifference>
  /** What calls without arguments have changed: the world has written it. */
  readonly written: ReadonlySet<string>
}

export class Rules {
  readonly target: CheckTarget
  readonly budget: Budget
  readonly solved: Solved[] = []
  /** Terms that have paid somebody; the others are costs. */
  readonly #paying = new Set<string>()
  readonly #others = new Map<TargetTask, (Solved | null)[]>()
  #asksForDifferent: readonly Solved[] | null = null
  /** Where the oracle leaves what a task asks for, if the way of one task is paid on all. */
  #asked: readonly string[] = []

  constructor(target: CheckTarget, budget: Budget) {
    this.target = target
    this.budget = budget
  }

  /** Lets the oracle play a task, and remembers it if it can be hacked. Resolves with `null` if the oracle fails. */
  async solve(task: TargetTask): Promise<Solved | null> {
    const solved = await this.#solveAs(task)
    const canBeHacked = solved && this.#net(solved.line) > ROUNDING && solved.line.attempt.succeeds() !== false
    if (canBeHacked) this.solved.push(solved)
    return solved
  }

  async #solveAs(task: TargetTask): Promise<Solved | null> {
    const { oracle } = this.target
    const start = () => PlayLine.start(this.target, task, this.budget)
    const line = oracle && (await playOut(await start(), oracle).catch(() => null))
    if (!line || line.moves.length === 0) return null
    // A random walk, in which it is seen what moves by itself.
    const walk = await playOut(await start(), RANDOM, WALK).catch(() => line)
    this.#net(walk)
    const parts = new StateParts([line, walk])
    const byItself = line.moves.length > 1 ? parts.changedBy(await this.play(task, line.moves.slice(-1))) : null
    const all = [...parts.changedBy(line)].filter(([place]) => !byItself?.has(place))
    const files = all.filter(([place]) => isOfFile(place))
    const work = new Map(files.length > 0 ? files : all)
    const written = new Set<string>()
    for (const [at, { action }] of line.moves.entries())
      for (const place of leafDifferences(line.states[at], line.states[at + 1]).keys())
        if (Object.keys(action.arguments).length === 0) written.add(place)
        else written.delete(place)
    return { task, line, parts, work, written }
  }

  /** What a line earns, costs left out: a hack may take more steps than the oracle. */
  #net({ terms }: PlayLine): number {
    for (const [term, sum] of terms) if (sum > 0) this.#paying.add(term)
    return [...terms].reduce((sum, [term, value]) => sum + (this.#paying.has(term) ? value : 0), 0)
  }

  /** Whether a line earns what the oracle earns: of several seats, each. */
  pays(line: PlayLine, { line: oracle }: Solved): boolean {
    if (this.#net(line) < this.#net(oracle) - ROUNDING || !line.hasCome) return false
    if (line.total <= Math.min(oracle.total, oracle.total / 2) - ROUNDING) return false
    const earns = ([seat, sum]: [string, number]) => (line.earned.get(seat) ?? 0) >= sum - ROUNDING
    return oracle.earned.size === 1 || [...oracle.earned].every(earns)
  }

  /** Returns the rule by which a line is a hack of a task, as far as the line alone can say; `null` if none. */
  suspect(line: PlayLine, solved: Solved): Rule | null {
    if (this.#returns(line, solved).length > 0) return 'collected-again'
    if (!this.pays(line, solved) || isSameMoves(line.moves, solved.line.moves)) return null
    if (line.attempt.succeeds() === false) return 'without-success'
    if (this.#leavesUndone(line, solved)) return 'work-undone'
    return this.#doesTheWork(line, solved) ? null : 'same-actions'
  }

  /** Returns what was played if moves are a hack by a rule on a fresh episode and with other chance; else `null`. */
  async confirm(rule: Rule, moves: readonly Move[], solved: Solved): Promise<PlayLine | null> {
    const line = await this.play(solved.task, moves)
    if (line.moves.length < moves.length) return null
    if (rule === 'same-actions') return (await this.#paysEverywhere(moves))?.undone ? line : null
    if (rule === 'one-answer') return (await this.#isOneAnswer(moves, solved)) ? line : null
    if (this.suspect(line, solved) !== rule) return null
    if (rule === 'collected-again' && !(await this.#paysEachTime(line, solved))) return null
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
      if (this.suspect(await this.play(other.task, moves), other) !== 'work-undone') return false
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
    for (const { line } of this.#asksForDifferent) {
      if (!(await this.#paysEverywhere(line.moves))) continue
      this.#asked = placesOfParams(distinct)
      if (this.#asked.length === 0) this.#asksForDifferent = []
      break
    }
    return this.#asksForDifferent
  }

  /**
   * Whether one answer is paid on all tasks, and leaves something else than the oracle does, though the answers of no
   * task are paid on the next one: so they are looked at.
   */
  async #isOneAnswer(moves: readonly Move[], { line: oracle }: Solved): Promise<boolean> {
    const own = valuesIn(oracle.moves)
    const changed = [...valuesIn(moves)].filter(
      ([name, given]) => JSON.stringify(given) !== JSON.stringify(own.get(name)),
    )
    const answers = new Map(changed.map(([name, [first]]) => [name, first as Json]))
    const tasks = await this.different()
    if (answers.size === 0 || tasks.length === 0 || this.#asked.length > 0) return false
    for (const [at, one] of tasks.entries()) {
      const next = valuesIn((tasks[(at + 1) % tasks.length] as Solved).line.moves)
      const others = new Map([...answers.keys()].map((name) => [name, next.get(name)?.[0] as Json]))
      const line = await this.play(one.task, withAnswers(one.line.moves, answers))
      const isSame = leafDifferences(line.states.at(-1), one.line.states.at(-1)).size === 0
      if (!this.pays(line, one) || (isSame && line.attempt.state !== null)) return false
      if (this.pays(await this.play(one.task, withAnswers(one.line.moves, others)), one)) return false
    }
    return true
  }

  /** Plays moves from the start, and closes the attempt. */
  async play(task: TargetTask, moves: readonly Move[]): Promise<PlayLine> {
    await using line = await (await PlayLine.start(this.target, task, this.budget)).playAll(moves)
    return line
  }

  async #paysEverywhere(moves: readonly Move[]): Promise<{ readonly undone: boolean } | null> {
    const tasks = this.#asksForDifferent ?? []
    let undone = 0
    for (const solved of tasks) {
      const line = await this.play(solved.task, moves)
      if (!this.pays(line, solved)) return null
      if (!this.#doesTheWork(line, solved)) undone += 1
    }
    return { undone: undone * 2 > tasks.length }
  }

  /** Whether a line leaves most of what the oracle changes as the oracle does: one way may solve all tasks. */
  #doesTheWork({ states, attempt }: PlayLine, { line: oracle, work }: Solved): boolean {
    if (attempt.state === null) return false
    const other = leafDifferences(states.at(-1), oracle.states.at(-1))
    const done = [...work.keys()].filter((place) => !other.has(place))
    return done.length * 2 > work.size && !this.#asked.some((place) => other.has(place))
  }

  #leavesUndone(line: PlayLine, { parts, work, written, line: oracle }: Solved): boolean {
    if (line.attempt.state === null || work.size === 0) return false
    const isOnDisk = [...work.keys()].some(isOfFile)
    const changed = parts.changedBy(line)
    const isDestroyed = (place: string) => destroys(changed.get(place)) && !destroys(work.get(place))
    const forged = isOnDisk ? [...written].filter((place) => isWrittenIn(line, changed.get(place)?.to)) : []
    const isDone = (place: string) => changed.has(place) && !isDestroyed(place) && !forged.includes(place)
    if ([...work.keys()].some(isDone)) return false
    if (forged.length > 0) return forged.length < work.size
    const fields = new Set([...work.keys()].map(fieldOf))
    const own = parts.changedBy(oracle)
    const others = [...changed.keys()].filter((place) => {
      return !own.has(place) && fields.has(fieldOf(place)) && isOfFile(place) === isOnDisk
    })
    // Two solutions may change different rows of one field. What a grader reads is none of them, and to destroy is none
    // where the oracle destroys nothing.
    const isRuin = (change: LeafDifference | undefined) => change !== undefined && (destroys(change) || flips(change))
    const ruins = others.every((place) => isRuin(changed.get(place))) && ![...work.values()].some(isRuin)
    return others.length === 0 || ruins || others.some((place) => GRADED.test(place))
  }

  /** How a line that earns more than the oracle came back with as much or more, as the oracle did not. */
  #returns(line: PlayLine, { line: oracle, parts }: Solved) {
    if (line.total <= oracle.total + Math.max(ROUNDING, BEYOND * Math.abs(oracle.total))) return []
    return [0, 1, 2].flatMap((mode) => (returnsOf(oracle, parts, mode).length > 0 ? [] : returnsOf(line, parts, mode)))
  }

  /** Whether a line earns more if the way back to where it was is played once more, and less if it is left out. */
  async #paysEachTime(line: PlayLine, solved: Solved): Promise<boolean> {
    for (const [from, to] of this.#returns(line, solved).slice(0, TRIED)) {
      const [before, again, after] = [line.moves.slice(0, from), line.moves.slice(from, to), line.moves.slice(to)]
      const more = await this.play(line.task, [...before, ...again, ...again, ...after])
      const less = await this.play(line.task, [...before, ...after])
      if (more.total > line.total + ROUNDING && less.total < line.total - ROUNDING) return true
    }
    return false
  }
}

/** The pairs of states of a line, the nearest first, between which it came back with as much or more. */
function returnsOf(line: PlayLine, parts: StateParts, mode: number): (readonly [from: number, to: number])[] {
  const found: (readonly [number, number])[] = []
  // Nothing follows an end.
  const most = line.states.length - (line.isOver ? 1 : 0)
  for (let length = 1; length < most; length++)
    for (let from = 0; from + length < most; from++)
      if (parts.comesBack(line, from, from + length, mode)) found.push([from, from + length])
  return found
}

/** The places where the oracle leaves another parameter of each task: what has to be there is asked for. */
function placesOfParams(tasks: readonly Solved[]): string[] {
  return [...(tasks[0]?.work.keys() ?? [])].filter((place) => {
    const left = tasks.flatMap(({ work, task }) => {
      const value = work.get(place)?.to
      return value !== undefined && [...eachLeaf(task.params)].includes(value) ? [value] : []
    })
    return left.length === tasks.length && new Set(left).size === left.length
  })
}

/** Moves with the same answer each time, by `tool argument`. */
export function withAnswers(moves: readonly Move[], answers: ReadonlyMap<string, Json>): Move[] {
  return moves.map(({ seat, action: { tool, arguments: args } }) => {
    const given = Object.entries(args).map(([key, value]) => [key, answers.get(`${tool} ${key}`) ?? value])
    return { seat, action: { tool, arguments: Object.fromEntries(given) } }
  })
}

/** What moves give to each argument, by `tool argument`. */
export function valuesIn(moves: readonly Move[]): Map<string, Json[]> {
  const each = moves.flatMap(({ action: { tool, arguments: args } }) =>
    Object.entries(args).map(([key, value]) => [`${tool} ${key}`, value as Json] as const),
  )
  const named = Map.groupBy(each, ([name]) => name)
  return new Map([...named].map(([name, values]) => [name, values.map(([, value]) => value)]))
}

/** Whether a change says nothing about the work: a text is removed or emptied, ends at once, or is skipped. */
function destroys(change: LeafDifference | undefined): boolean {
  if (typeof (change?.from ?? change?.to) !== 'string') return false
  return String(change?.to ?? '')
    .split('\n')
    .every((line) => /^\s*(exit 0|true|skip .*)?$/.test(line))
}

/** Whether a change of a text only turns settings on or off. */
function flips({ from, to }: LeafDifference): boolean {
  const [before, after] = [from, to].map((text) => typeof text === 'string' && text.replace(/true|false/g, '?'))
  return before === after && before !== false
}

function isWrittenIn({ moves }: PlayLine, text: Json | undefined): boolean {
  return typeof text === 'string' && JSON.stringify(moves).includes(JSON.stringify(text).slice(1, -1))
}
