const MAX_FRAMES = 5

/** The longest chain of causes that is followed: it may be circular. */
const CAUSES = 8

/** The folder of this repository; `null` for an installed package, which is below `node_modules`. */
const REPOSITORY = /^(.*\/)packages\/mcp-server\/src\//.exec(import.meta.url)?.[1] ?? null

/** Where our own code is. In a clone of the repository our packages are not below `node_modules`. */
const OURS: readonly string[] = [
  '/node_modules/@episodic/',
  '/node_modules/episodic/',
  ...(REPOSITORY === null ? [] : ['packages/', 'satellites/', 'apps/'].map((name) => pathOf(REPOSITORY) + name)),
]

/**
 * Returns the innermost frames of an error in an author's code, with file, line and column, down to the call from our
 * code. Frames of libraries are omitted if there are others. A syntax error has the line at which parsing failed.
 *
 * Paths are relative to the working folder; outside of it they have the last two names, so that no frame says where
 * this machine keeps its files. Empty if the stack names no file.
 */
export function ownFrames(error: Error, depth = 0): string[] {
  const lines = typeof error.stack === 'string' ? error.stack.split('\n') : []
  const frames = lines.filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line) && !line.includes('node:'))
  const first = frames.findIndex(isAuthors)
  // What Node throws by itself, as a failed `fetch`, has its place in the cause.
  if (frames.length === 0 && error.cause instanceof Error && depth < CAUSES) return ownFrames(error.cause, depth + 1)
  const after = frames.findIndex((frame, index) => index > first && isOurs(frame))
  const own = frames.slice(first, after < 0 ? undefined : after).filter(isAuthors)
  // Node prints the line of a syntax error above the message.
  const unparsed = /^(?:file:\/\/)?\/.*:\d+$/.test(lines[0] ?? '') ? [`    at ${lines[0]}`] : []
  return [...unparsed, ...(first >= 0 ? own : frames)]
    .slice(0, MAX_FRAMES)
    .map((frame) => frame.replace(PLACE, (_, before, file, place) => `${before}${shownFile(file)}${place}`))
}

/** What is before the file of a frame, the file, and its line and column. */
const PLACE = /^(\s+at (?:.*\()?(?:async )?)(.+?)(:\d+(?::\d+)?\)?)$/

function isAuthors(frame: string): boolean {
  return !frame.replaceAll('\\', '/').includes('/node_modules/') && !isOurs(frame)
}

function isOurs(frame: string): boolean {
  const path = decoded(frame.replaceAll('\\', '/'))
  return OURS.some((folder) => path.includes(folder))
}

function shownFile(address: string): string {
  const path = pathOf(address)
  if (!path.includes('/')) return path
  const folder = `${workingFolder()}/`
  return path.startsWith(folder) ? path.slice(folder.length) : `…/${path.split('/').slice(-2).join('/')}`
}

function pathOf(address: string): string {
  return decoded(address.replace(/^file:\/\/(?:\/(?=[A-Z]:))?/i, '').replaceAll('\\', '/'))
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function workingFolder(): string {
  try {
    return process.cwd().replaceAll('\\', '/')
  } catch {
    return ''
  }
}
