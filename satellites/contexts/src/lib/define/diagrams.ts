import type { Context } from '../model/context.ts'
import type { ConversationRecord } from '../model/conversation-record.ts'

export function drawContext(
  { states, initial, edges, machine }: Pick<Context, 'states' | 'initial' | 'edges' | 'machine'>,
  highlighted?: string,
): string {
  const ids = new Map(states.map((state, index) => [state, mermaidId(state, index)]))
  const idOf = (state: string): string => ids.get(state) ?? state
  const renamed = states.filter((state) => idOf(state) !== state).map((state) => stateLine(idOf(state), state))
  const lines = ['stateDiagram-v2', '  direction LR', ...renamed]
  const opening = edges.filter(({ from }) => from === null)
  if (opening.length === 0) lines.push(`  [*] --> ${idOf(initial)}`)
  for (const { from, to, on, kind, guard } of edges) {
    const label = [on && (kind === 'event' ? `${on} (event)` : on), guard && `[${guard}]`].filter(Boolean).join(' ')
    lines.push(`  ${from === null ? '[*]' : idOf(from)} --> ${idOf(to)}${label && `: ${label}`}`)
  }
  for (const state of states) if (machine.states[state]?.final) lines.push(`  ${idOf(state)} --> [*]`)
  if (highlighted !== undefined && states.includes(highlighted)) lines.push(...highlight(idOf(highlighted)))
  return `${[...new Set(lines)].join('\n')}\n`
}

/**
 * Draws the path of a conversation: the states of its frames, and the numbered transitions between them. All on one
 * level, because Mermaid draws no transition from inside one composite state to inside another.
 */
export function drawPath({ public: { path, stack } }: ConversationRecord): string {
  const states = new Set<string>()
  const moves: string[] = []
  let here: { readonly frame: number; readonly node: string } | undefined
  for (const { kind, frame, context, from, to, on } of path) {
    if (to === null || kind === 'suspended') continue
    const node = nodeOf(frame, to)
    states.add(stateLine(node, `${context} ${frame}, ${to}`))
    // A suspended frame moves by an event: the conversation stays at the active one.
    const aside = kind === 'moved' && here?.frame !== frame
    if (aside && from !== null) states.add(stateLine(nodeOf(frame, from), `${context} ${frame}, ${from}`))
    const start = aside ? nodeOf(frame, from ?? to) : (here?.node ?? '[*]')
    moves.push(`  ${start} --> ${node}: ${moves.length + 1} ${on ?? kind}`)
    if (!aside) here = { frame, node }
  }
  const highlighted = stack.length > 0 && here ? highlight(here.node) : []
  return `${['stateDiagram-v2', '  direction LR', ...states, ...moves, ...highlighted].join('\n')}\n`
}

function nodeOf(frame: number, state: string): string {
  return `frame${frame}_${state.replaceAll(/\W/g, '_')}`
}

const KEYWORDS = new Set('as class classdef click default direction end lit note root state style'.split(' '))

function mermaidId(name: string, index: number): string {
  return /^[A-Za-z]\w*$/.test(name) && !KEYWORDS.has(name.toLowerCase()) ? name : `node${index + 1}`
}

function stateLine(id: string, name: string): string {
  return `  state "${name}" as ${id}`
}

function highlight(id: string): string[] {
  return ['  classDef lit fill:#2563eb,stroke:#1e40af,color:#ffffff', `  class ${id} lit`]
}
