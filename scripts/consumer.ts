import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packCommand } from './checks.ts'
import { type Command, runCommand } from './run-command.ts'
import { listPublished, pnpm, readJson, root, tarballOf } from './workspace.ts'

// Uses the packages as a stranger would: installs the packed tarballs into an empty project outside the workspace,
// type checks and compiles the program in scripts/consumer, runs it, and runs the installed command on its world.
//
//   node scripts/consumer.ts             packs first (after a build)
//   node scripts/consumer.ts <folder>    uses the tarballs in a folder
//
// CONSUMER_NODE names the Node that runs the program; by default, the workspace's own.

const { CONSUMER_NODE: node = process.execPath } = process.env
/** The installed command. */
const CLI = 'node_modules/@episodic/harness/dist/cli.js'
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

const project = await mkdtemp(join(tmpdir(), 'episodic-consumer-'))
try {
  const tarballs = process.argv[2] ?? (await pack(join(project, 'tarballs')))
  await cp(join(root, 'scripts', 'consumer'), project, { recursive: true })
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest(tarballs), null, 2))
  await run(pnpm('install', '--prefer-offline', '--no-frozen-lockfile', '--ignore-workspace'))
  await run([join(project, 'node_modules', '.bin', 'tsc'), '-p', '.'])
  console.log(await run([node, 'dist/main.js']))
  const report = await run([
    node,
    CLI,
    'run',
    './dist/higher-or-lower.js',
    '--tasks',
    '20',
    '--transport',
    'http',
    '--json',
  ])
  const { counts, success } = JSON.parse(report.split('\n').at(-1) as string)
  if (counts.finished !== 20 || success.overall.rate !== 1) throw new Error(`The installed command reported ${report}`)
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause)
  process.exitCode = 1
} finally {
  await rm(project, { recursive: true, force: true })
}

async function pack(folder: string): Promise<string> {
  await run(packCommand(listPublished(), folder), root)
  return folder
}

/** The overrides make the packages find each other in the tarballs as well, since no registry has them yet. */
function manifest(tarballs: string): object {
  const published = listPublished()
  const packed = Object.fromEntries(published.map((room) => [room.name, `file:${join(tarballs, tarballOf(room))}`]))
  return {
    name: 'episodic-consumer',
    private: true,
    type: 'module',
    packageManager: readJson('package.json').packageManager,
    dependencies: { ...packed, zod: installedVersion('packages/protocol', 'zod') },
    devDependencies: {
      '@types/node': installedVersion('.', '@types/node'),
      typescript: installedVersion('.', 'typescript'),
    },
    pnpm: { overrides: packed },
  }
}

function installedVersion(folder: string, name: string): string {
  return readJson(join(folder, 'node_modules', name, 'package.json')).version
}

async function run(command: Command, folder = project): Promise<string> {
  const { code, output } = await runCommand(command, { folder, signal: stop.signal })
  if (code !== 0) throw new Error(`${command.join(' ')} failed with ${code}.\n${output}`)
  return output.trim()
}
