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

/** Most nodes that wait, actions that are tried each time that one is chosen, and steps of a cycle. */
const WAITING = 400
const AT_ONCE = 4
const LONGEST_CYCLE = 12
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
  const onWay = new Set(oracle.states.map((_, at) => parts.keyOf(oracle, 0, at)))
  const nodes: Node[] = []
  const add = (line: PlayLine, isNew: number) => {
    const key = parts.keyOf(line)
    met.set(key, line.total)
    const worth =
      (WORTH.earned * line.total) / Math.max(Math.abs(oracle.total), 1e-3) +
      WORTH.news * isNew +
      (onWay.has(key) ? WORTH.onWay : 0) +
      WORTH.depth * line.moves.length
    nodes.push({ line, actions: null, tried: 0, score: Math.min(worth, 2 * WORTH.earned) })
    if (nodes.length <= WAITING) return
    nodes.splice(nodes.indexOf(nodes.reduce((worst, node) => (node.score < worst.score ? node : worst))), 1)
  }
  const actionsOf = ({ attempt, moves }: PlayLine) => {
    const { tools = [], observation } = attempt.view(attempt.turn[0])
    proposals.read(observation.text)
    // The next move of the oracle comes first.
    const next = own[moves.length]
    return proposals.for(tools, next ? [next, ...own] : own)
  }
  const way = await PlayLine.start(target, task, budget)
  add(await way.fork(), 1)
  for (const move of oracle.moves) {
    if (!(await way.play(move)) || way.isOver) break
    add(await way.fork(), 0.5)
  }
  let turns = 0
  while (nodes.length > 0 && !budget.isSpent && budget.left > until) {
    signal?.throwIfAborted()
    // Ctrl-C can end it.
    if (++turns % 200 === 0) await nextTurn()
    const node = nodes.reduce((best, one) => (one.score > best.score ? one : best))
    node.actions ??= actionsOf(node.line)
    for (const action of node.actions.slice(node.tried, node.tried + AT_ONCE)) {
      const line = await node.line.fork()
      const before = line.total
      if (!(await line.play({ action }))) continue
      const { refused, observation } = line.last as NonNullable<PlayLine['last']>
      proposals.read(observation.text)
      const rule = rules.suspect(line, solved)
      if (rule) yield { rule, moves: line.moves, solved }
      if (line.isOver || (rule && rule !== 'same-actions')) continue
      if (line.total > before) yield* repeated(rules, solved, line)
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

/** Repeats the last moves of a line, which were paid, as long as they are, and then goes on as the oracle does. */
async function* repeated(rules: Rules, solved: Solved, line: PlayLine): AsyncGenerator<Suspect> {
  const { parts, line: oracle } = solved
  const key = parts.keyOf(line, 2)
  for (let length = 1; length <= Math.min(LONGEST_CYCLE, line.moves.length); length++) {
    const from = line.moves.length - length
    const sum = line.rewards.slice(from).reduce((all, reward) => all + reward, 0)
    const isBack = line.states.length > 0 && parts.keyOf(line, 2, from) === key
    if (sum <= 0 || (!isBack && length > 2)) continue
    const cycle = line.moves.slice(from)
    const again = await line.fork()
    let paid = again.total
    for (;;) {
      await again.playAll(cycle)
      const rule = rules.suspect(again, solved)
      if (rule) yield { rule, moves: again.moves, solved }
      if (rule || again.isOver || again.total <= paid) break
      paid = again.total
    }
    const at = oracle.states.findIndex((_, i) => parts.keyOf(oracle, 2, i) === key)
    if (!isBack || at < 0) continue
    const finished = await (await line.fork()).playAll([...cycle, ...oracle.moves.slice(at)])
    const rule = rules.suspect(finished, solved)
    if (rule) yield { rule, moves: finished.moves, solved }
    return
  }
}
