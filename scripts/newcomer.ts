import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from './run-command.ts'
import { listPublished, readJson, root, tarballOf } from './workspace.ts'

// Starts as a newcomer does: installs `episodic` and `zod` with npm into an empty project outside the workspace, and runs
// and checks the README's first environment with `npx episodic`.
//
//   node scripts/newcomer.ts <folder>    the folder has the packed tarballs

const { positionals } = parseArgs({ allowPositionals: true })
const [tarballs] = positionals
if (!tarballs) throw new Error('Name the folder of the tarballs: node scripts/newcomer.ts <folder>')

const project = await mkdtemp(join(tmpdir(), 'episodic-newcomer-'))
try {
  const packed = Object.fromEntries(
    listPublished().map((room) => [room.name, `file:${join(tarballs, tarballOf(room))}`]),
  )
  const { version } = readJson(join('packages/protocol/node_modules/zod/package.json'))
  await cp(join(root, 'scripts/newcomer/my-world.ts'), join(project, 'my-world.ts'))
  // The overrides stand in for the registry, which has none of these versions yet.
  const { episodic, ...overrides } = packed
  const manifest = { private: true, type: 'module', dependencies: { episodic, zod: version }, overrides }
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  await run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline')
  const summary = JSON.parse(
    (await run('npx', 'episodic', 'run', 'my-world.ts', '--json')).split('\n').at(-1) as string,
  )
  if (summary.counts.finished !== 100) throw new Error(`The run reported ${JSON.stringify(summary.counts)}`)
  await run('npx', 'episodic', 'check', 'my-world.ts')
  console.log(`${summary.counts.finished} episodes of my-world.ts played and the world checked by npx episodic`)
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause)
  process.exitCode = 1
} finally {
  await rm(project, { recursive: true, force: true })
}

async function run(...command: [string, ...string[]]): Promise<string> {
  const { code, output } = await runCommand(command, { folder: project })
  if (code !== 0) throw new Error(`${command.join(' ')} failed with ${code}.\n${output}`)
  return output.trim()
}
