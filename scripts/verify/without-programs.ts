/**
 * `node scripts/verify/without-programs.ts <program…>`: runs `npm test` where PATH lacks these programs, as on a
 * machine that never had them: no test may fail for want of one. Exits as `npm test` does.
 */
import { chmod, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { runCommand } from '../run-command.ts'

const hidden = new Set(process.argv.slice(2))
if (hidden.size === 0) {
  console.error('Usage: node scripts/verify/without-programs.ts <program…>')
  process.exit(2)
}
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

const folder = await mkdtemp(join(tmpdir(), 'episodic-path-'))
await chmod(folder, 0o755) // Tests start PostgreSQL as a user of its own, which starts programs too.
try {
  await linkOthers()
  // In CI a missing program is a failure.
  const env = { PATH: folder, CI: undefined, CHROMIUM_PATH: undefined }
  const { code, output } = await runCommand(['npm', 'test'], { signal: stop.signal, env })
  console.log(output)
  process.exitCode = code ?? 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

/**
 * Fills the folder with a link to each program of PATH that is not hidden; the first of a name counts, as in PATH.
 * Programs of packages are left out: they find their files by the folder that they are in, and `npm test` adds them.
 */
async function linkOthers(): Promise<void> {
  const linked = new Set(hidden)
  const paths = (process.env.PATH ?? '').split(delimiter)
  for (const path of paths.filter((one) => !one.endsWith(join('node_modules', '.bin')))) {
    for (const name of await readdir(path).catch(() => [])) {
      if (linked.has(name)) continue
      linked.add(name)
      await symlink(join(path, name), join(folder, name))
    }
  }
}
