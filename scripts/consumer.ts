import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packCommand } from './checks.ts'
import { inEmptyProject, packedPackages } from './empty-project.ts'
import { listPublished, pnpm, readJson, root } from './workspace.ts'

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

await inEmptyProject('consumer', async ({ folder: project, run }) => {
  const tarballs = process.argv[2] ?? join(project, 'tarballs')
  if (process.argv[2] === undefined) await run(packCommand(listPublished(), tarballs), root)
  await cp(join(root, 'scripts', 'consumer'), project, { recursive: true })
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest(packedPackages(tarballs)), null, 2))
  await run(pnpm('install', '--prefer-offline', '--no-frozen-lockfile', '--ignore-workspace'))
  await run([join(project, 'node_modules', '.bin', 'tsc'), '-p', '.'])
  console.log(await run([node, 'dist/main.js']))
  const tasks = ['--tasks', '20', '--transport', 'http', '--json']
  const report = await run([node, CLI, 'run', './dist/higher-or-lower.js', ...tasks])
  const { counts, success } = JSON.parse(report.split('\n').at(-1) as string)
  if (counts.finished !== 20 || success.overall.rate !== 1) throw new Error(`The installed command reported ${report}`)
})

function manifest(packed: Readonly<Record<string, string>>): object {
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
