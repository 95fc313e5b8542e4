/** Ends the process with one line if its Node is too old for the world that it would create. */
export function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 18)) return
  process.stderr.write(
    `error: Episodic needs Node 22.18 or later, and this is Node ${process.versions.node}. Install a newer one from https://nodejs.org.\n`,
  )
  process.exit(1)
}
