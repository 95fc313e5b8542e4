import type { ConversationRecord } from '../model/conversation-record.ts'
import { LIT, stateLine } from './mermaid.ts'

/**
 * Draws the way that a conversation has gone: the states that its frames were in, and the moves between them, numbered. All on
 * one level, because Mermaid draws no transition from inside one composite state to inside another.
 */
export function drawPath({ public: { path, stack } }: ConversationRecord): string {
  const states = new Set<string>()
  const moves: string[] = []
  let here: { readonly frame: number; readonly node: string } | undefined
  for (const { kind, frame, context, from, to, on } of path) {
    if (to === null || kind === 'suspended') continue
    const node = nodeOf(frame, to)
    states.add(stateLine(node, `${context} ${frame}, ${to}`))
    // What moves while it is suspended moves by itself: the conversation stays where it is.
    const aside = kind === 'moved' && here?.frame !== frame
    if (aside && from !== null) states.add(stateLine(nodeOf(frame, from), `${context} ${frame}, ${from}`))
    const start = aside ? nodeOf(frame, from ?? to) : (here?.node ?? '[*]')
    moves.push(`  ${start} --> ${node}: ${moves.length + 1} ${on ?? kind}`)
    if (!aside) here = { frame, node }
  }
  const active = stack.at(-1)
  const lit = active && here ? [LIT, `  class ${here.node} lit`] : []
  return `${['stateDiagram-v2', '  direction LR', ...states, ...moves, ...lit].join('\n')}\n`
}

function nodeOf(frame: number, state: string): string {
  return `frame${frame}_${state.replaceAll(/\W/g, '_')}`
}
