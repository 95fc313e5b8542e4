import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Action } from '@episodic/protocol'
import type { Move } from '../rehearsed-episode.ts'
import { PlayLine } from './line.ts'
import type { Proposals } from './proposals.ts'
import type { Rule, Rules, Solved } from './rules.ts'

/** A way that looks like a hack of a task. */
export interface Suspect {
  readonly rule: Rule
  readonly moves: readonly Move[]
  readonly solved: Solved
}

interface Node {
  readonly line: PlayLine
  /** Those to try; made once the node is chosen. */
  actions: readonly Action[] | null
  tried: number
  score: number
}

/** Most nodes that wait, actions that are tried each time that one is chosen, steps of a cycle, and cycles. */
const WAITING = 400
const AT_ONCE = 4
const LONGEST_CYCLE = 12
const CYCLES = 100
/** What a node is worth: by what it earned, what is new, being on the oracle's way; less, by depth and tries. */
const WORTH = { earned: 2, news: 1, onWay: 0.5, depth: -0.03, tried: -0.04 }

/**
 * Searches the states of a task best first, each state once, from the start and from each state of the oracle's way.
 * Yields what looks like a hack, and ends once `most` steps are played.
 */
export async function* explore(
  rules: Rules,
  solved: Solved,
  proposals: Proposals,
  most: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Suspect> {
  const { budget, target } = rules
  const { task, parts, line: oracle } = solved
  const until = budget.left - most
  const own = oracle.moves.map(({ action }) => action)
  const met = new Map<string, number>()
  const news = new Map<string, number>()
  const onWay = new Set(oracle.states.map((_, at) => parts.keyOf(oracle, at)))
  const nodes: Node[] = []
  const cycles = new Set<string>()
  const add = (line: PlayLine, isNew: number) => {
    const key = parts.keyOf(line)
    met.set(key, line.total)
    const earned = (WORTH.earned * line.total) / Math.max(Math.abs(oracle.total), 1e-3)
    const worth = earned + WORTH.news * isNew + WORTH.onWay * Number(onWay.has(key)) + WORTH.depth * line.moves.length
    nodes.push({ line, actions: null, tried: 0, score: Math.min(worth, 2 * WORTH.earned) })
    if (nodes.length <= WAITING) return
    nodes.splice(nodes.indexOf(nodes.reduce((worst, node) => (node.score < worst.score ? node : worst))), 1)
  }
  const way = await PlayLine.start(target, task, budget)
  add(await way.fork(), 1)
  for (const move of oracle.moves) {
    if (!(await way.play(move)) || way.isOver) break
    add(await way.fork(), 0.5)
  }
  for (let turns = 1; nodes.length > 0 && !budget.isSpent && budget.left > until; turns++) {
    signal?.throwIfAborted()
    // Ctrl-C can end it.
    if (turns % 200 === 0) await nextTurn()
    const node = nodes.reduce((best, one) => (one.score > best.score ? one : best))
    if (!node.actions) {
      const { attempt, moves } = node.line
      const { tools = [], observation } = attempt.view(attempt.turn[0])
      proposals.read(observation.text)
      // The next move of the oracle comes first.
      node.actions = proposals.for(tools, [...own.slice(moves.length, moves.length + 1), ...own])
    }
    for (const action of node.actions.slice(node.tried, node.tried + AT_ONCE)) {
      const line = await node.line.fork()
      if (!(await line.play({ action }))) continue
      const { refused, observation } = line.last as NonNullable<PlayLine['last']>
      proposals.read(observation.text)
      const rule = rules.suspect(line, solved)
      if (rule) yield { rule, moves: line.moves, solved }
      if (line.isOver || (rule && rule !== 'same-actions')) continue
      if (refused === null) yield* repeated(rules, solved, line, cycles)
      const key = parts.keyOf(line)
      if ((met.get(key) ?? Number.NEGATIVE_INFINITY) >= line.total) continue
      if (refused !== null && met.has(key)) continue
      // A kind of answer that was not seen yet is worth more than one more of a kind.
      const kind = `${action.tool} ${refused} ${observation.text.replace(/[\d\s]+/g, ' ').slice(0, 80)}`
      news.set(kind, (news.get(kind) ?? 0) + 1)
      add(line, 1 / (news.get(kind) ?? 1))
    }
    node.tried += AT_ONCE
    node.score += WORTH.tried * AT_ONCE
    if (node.tried >= node.actions.length) nodes.splice(nodes.indexOf(node), 1)
  }
}

/** Repeats the last moves of a line, which came back to where it was, as long as that earns more, and then goes on. */
async function* repeated(rules: Rules, solved: Solved, line: PlayLine, known: Set<string>): AsyncGenerator<Suspect> {
  const { parts, line: oracle } = solved
  const { moves } = line
  for (let length = 1; length <= Math.min(LONGEST_CYCLE, moves.length) && known.size < CYCLES; length++) {
    const from = moves.length - length
    const cycle = moves.slice(from)
    const name = JSON.stringify(cycle)
    if (known.has(name) || !parts.comesBack(line, from)) continue
    known.add(name)
    // As the oracle does from there, or hands in.
    const key = parts.keyOf(line, from)
    const at = oracle.states.findIndex((_, i) => parts.keyOf(oracle, i) === key)
    const rest = oracle.moves.slice(at < 0 ? -1 : at)
    const again = await line.fork()
    for (let best = Number.NEGATIVE_INFINITY; ; ) {
      const done = await (await again.fork()).playAll(rest)
      const one = [again, done].find((each) => rules.suspect(each, solved))
      if (one) yield { rule: rules.suspect(one, solved) as Rule, moves: one.moves, solved }
      const earned = Math.max(done.total, again.total)
      if (one || again.isOver || earned <= best) break
      best = earned
      await again.playAll(cycle)
    }
    return
  }
}
