// Plain JavaScript, because it runs while the workspace is installed, on any Node. The shim that pnpm writes for the
// workspace's own Node starts it as a child of a shell, which keeps signals to itself: `kill` of `npx episodic serve`,
// or `terminate()` from Python, would leave the server running. With `exec`, the shell becomes Node.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const shim = new URL('../node_modules/.bin/node', import.meta.url)
if (existsSync(shim)) {
  const text = readFileSync(shim, 'utf8')
  const executed = text.replace(/^("\$basedir\/[^"]*\/bin\/node" .*)\nexit \$\?$/m, 'exec $1')
  if (executed !== text) writeFileSync(shim, executed)
}
