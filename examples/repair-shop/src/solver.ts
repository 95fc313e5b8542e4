import { definePolicy } from '@episodic/env'
import type { Action } from '@episodic/protocol'
import { PROGRAMS, type Program } from './programs.ts'

/**
 * Knows the correct programs, and nothing of the bugs: it reads the modules, compares them, corrects what differs, and
 * submits.
 */
export const solver = definePolicy({ name: 'compare', start: () => repair(Number.POSITIVE_INFINITY) })

/** Corrects one difference at most, and submits until that is no longer possible. */
export const stumbling = definePolicy({ name: 'stumbling', start: () => repair(1) })

function repair(most: number) {
  let read = false
  let edits: Action[] | null = null
  return ({ text }: { readonly text: string }): Action => {
    if (!read) {
      read = true
      return { tool: 'bash', arguments: { command: 'node test/all.js; tail -n +1 src/*.js' } }
    }
    edits ??= editsFor(text).slice(0, most)
    return edits.shift() ?? { tool: 'submit', arguments: {} }
  }
}

/** What `tail` writes above each of several files. */
const HEADING = /^==> src\/(\w+)\.js <==$/

function editsFor(text: string): Action[] {
  const modules = new Map<string, string[]>()
  let lines: string[] = []
  for (const line of text.split('\n')) {
    const name = HEADING.exec(line)?.[1]
    if (name === undefined) {
      lines.push(line)
      continue
    }
    lines = []
    modules.set(name, lines)
  }
  const program = PROGRAMS.find((known) => [...modules.keys()].join() === Object.keys(known.modules).join())
  return program ? [...modules].flatMap(([name, read]) => editsIn(program, name, read)) : []
}

function editsIn({ modules }: Program, name: string, read: readonly string[]): Action[] {
  const correct = (modules[name] as string).trimEnd().split('\n')
  const path = `src/${name}.js`
  return correct.flatMap((line, i) => {
    if (line === read[i]) return []
    const first = firstUnique(read, i)
    const [old_text, new_text] = [read, correct].map((lines) => lines.slice(first, i + 1).join('\n'))
    return [{ tool: 'edit_file', arguments: { path, old_text, new_text } } as Action]
  })
}

/** How far up from a line a text begins that is in the file once. */
function firstUnique(lines: readonly string[], last: number): number {
  const text = lines.join('\n')
  for (let first = last; first > 0; first--)
    if (text.split(lines.slice(first, last + 1).join('\n')).length === 2) return first
  return 0
}
