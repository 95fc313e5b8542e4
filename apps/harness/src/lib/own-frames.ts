import { relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Frames of a stack that go into a message. */
const MOST_FRAMES = 5

/** Where libraries are. The packages that a world is made with are beside this one in a clone of the repository, and below `node_modules` elsewhere. */
const LIBRARIES = [`${sep}node_modules${sep}`, resolve(import.meta.dirname, '../../../../packages') + sep]

/**
 * The frames of what an author's code threw, each with file, line and column: the innermost ones, down to where this package
 * called. Those of libraries are left out where any other is there. What does not parse has the line where it does not.
 *
 * Paths are shown from the current folder. Empty where the stack names no file.
 */
export function ownFrames({ stack = '' }: Error): string[] {
  const lines = stack.split('\n')
  const all = lines.filter((line) => /^\s+at /.test(line))
  const ours = all.findIndex((frame) => frame.includes(import.meta.dirname))
  const called = all.slice(0, ours < 0 ? undefined : ours).filter((frame) => !frame.includes('node:internal'))
  const own = called.filter((frame) => /:\d+:\d+\)?$/.test(frame) && LIBRARIES.every((path) => !frame.includes(path)))
  // Node writes where something does not parse above the message.
  const unparsed = /^(?:file:\/\/)?\/.*:\d+$/.test(lines[0] ?? '') ? [`    at ${lines[0]}`] : []
  return [...unparsed, ...(own.length > 0 ? own : called)]
    .slice(0, MOST_FRAMES)
    .map((frame) => frame.replace(/(?:file:\/\/)?\/[^\s()]*?(?=:\d+(?::\d+)?\)?$)/, shownFile))
}

function shownFile(address: string): string {
  const file = address.startsWith('file:') ? fileURLToPath(address) : address
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? file : path
}
