import type { Context } from '../model/context.ts'
import { LIT, mermaidIds, stateLine } from './mermaid.ts'

/** Draws a context as a Mermaid state diagram. */
export function drawContext(
  { states, initial, edges, machine }: Pick<Context, 'states' | 'initial' | 'edges' | 'machine'>,
  lit?: string,
): string {
  const idOf = mermaidIds(states)
  const renamed = states.filter((state) => idOf(state) !== state).map((state) => stateLine(idOf(state), state))
  const lines = ['stateDiagram-v2', '  direction LR', ...renamed]
  const opening = edges.filter(({ from }) => from === null)
  if (opening.length === 0) lines.push(`  [*] --> ${idOf(initial)}`)
  for (const { from, to, on, kind, guard } of edges) {
    const label = [on && (kind === 'event' ? `${on} (event)` : on), guard && `[${guard}]`].filter(Boolean).join(' ')
    lines.push(`  ${from === null ? '[*]' : idOf(from)} --> ${idOf(to)}${label && `: ${label}`}`)
  }
  for (const state of states) if (machine.states[state]?.final) lines.push(`  ${idOf(state)} --> [*]`)
  if (lit !== undefined && states.includes(lit)) lines.push(LIT, `  class ${idOf(lit)} lit`)
  return `${[...new Set(lines)].join('\n')}\n`
}
