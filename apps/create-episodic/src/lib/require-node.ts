/** The oldest Node that runs the command: it strips the types of a world's `.ts`. */
const OLDEST = [22, 18] as const

/**
 * Ends the process with status 1 and one line if its Node is too old. To be called before any module is loaded that an
 * older Node cannot load.
 */
export function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return
  process.stderr.write(
    `error: Episodic needs Node ${OLDEST.join('.')} or later, and this is Node ${process.versions.node}. Install a newer one from https://nodejs.org.\n`,
  )
  process.exit(1)
}
