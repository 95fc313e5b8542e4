import { relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Maximum frames in a message. */
const MAX_FRAMES = 5

/** Folders of libraries. In a clone of the repository our own packages are not below `node_modules`. */
const LIBRARIES = [`${sep}node_modules${sep}`, resolve(import.meta.dirname, '../../../../packages') + sep]

/**
 * Returns the innermost frames of an error in an author's code, with file, line and column, down to the call from this
 * package. Frames of libraries are omitted if there are others. A syntax error has the line at which parsing failed.
 *
 * Paths are relative to the working folder. Empty if the stack names no file.
 */
export function ownFrames({ stack = '' }: Error): string[] {
  const lines = stack.split('\n')
  const all = lines.filter((line) => /^\s+at /.test(line))
  const ours = all.findIndex((frame) => frame.includes(import.meta.dirname))
  const called = all.slice(0, ours < 0 ? undefined : ours).filter((frame) => !frame.includes('node:internal'))
  const own = called.filter((frame) => /:\d+:\d+\)?$/.test(frame) && LIBRARIES.every((path) => !frame.includes(path)))
  // Node prints the line of a syntax error above the message.
  const unparsed = /^(?:file:\/\/)?\/.*:\d+$/.test(lines[0] ?? '') ? [`    at ${lines[0]}`] : []
  return [...unparsed, ...(own.length > 0 ? own : called)]
    .slice(0, MAX_FRAMES)
    .map((frame) => frame.replace(/(?:file:\/\/)?\/[^\s()]*?(?=:\d+(?::\d+)?\)?$)/, shownFile))
}

function shownFile(address: string): string {
  const file = address.startsWith('file:') ? fileURLToPath(address) : address
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? file : path
}
