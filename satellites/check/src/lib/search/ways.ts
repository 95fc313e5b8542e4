import type { ToolInfo } from '@episodic/protocol'
import type { Move } from '../rehearsed-episode.ts'
import { tamperings } from '../targets/tampering.ts'
import type { Suspect } from './explore.ts'
import { PlayLine } from './line.ts'
import type { Proposals } from './proposals.ts'
import { type Rules, type Solved, valuesIn, withAnswers } from './rules.ts'

/**
 * Plays ways that are no work, before states are searched: those of the oracle on other tasks, with one answer for all,
 * and without a tool; and tampering with files in place of the work.
 */
export async function* knownWays(rules: Rules, solved: Solved, proposals: Proposals): AsyncGenerator<Suspect> {
  const { line: oracle, task } = solved
  const others = await rules.different()
  await using start = await PlayLine.start(rules.target, task, rules.budget)
  const { tools = [] } = start.attempt.view()
  const names = new Set(oracle.moves.map(({ action }) => action.tool))
  const ways = [
    ...others.filter((one) => one !== solved).map(({ line }) => line.moves),
    ...[...names].map((name) => oracle.moves.filter(({ action }) => action.tool !== name)),
  ]
  if (others.length > 0)
    for (const [name, given] of valuesIn(oracle.moves)) {
      const [tool, key] = name.split(' ') as [string, string]
      if (others.every(({ line }) => JSON.stringify(valuesIn(line.moves).get(name)) === JSON.stringify(given))) continue
      for (const value of proposals.valuesFor(tools.find((one) => one.name === tool) as ToolInfo, key)) {
        const moves = withAnswers(oracle.moves, new Map([[name, value]]))
        const line = await rules.play(task, moves)
        if (rules.pays(line, solved)) yield { rule: 'one-answer', moves, solved }
      }
    }
  const last = oracle.moves.findLastIndex(({ action }) => Object.keys(action.arguments).length > 0)
  const ends = [oracle.moves.slice(-1), ...(last < oracle.moves.length - 2 ? [oracle.moves.slice(last + 1)] : [])]
  for (const actions of tamperings(tools, oracle.states[0], oracle.states.at(-1)))
    for (const end of ends) ways.push([...actions.map((action) => ({ ...(end[0] as Move), action })), ...end])
  for (const moves of ways) {
    if (rules.budget.isLate) return
    const line = await rules.play(task, moves)
    const rule = rules.suspect(line, solved)
    if (rule) yield { rule, moves: line.moves, solved }
  }
}
