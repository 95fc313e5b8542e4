import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inEmptyProject, lastJson, packedPackages } from './empty-project.ts'
import { packCommand } from './verify/checks.ts'
import { listPublished, pnpm, readJson, root } from './workspace.ts'

// Uses the packages as a stranger would: installs the packed tarballs into an empty project outside the workspace,
// type checks and compiles the program in scripts/consumer, runs it, and runs the installed command on its world. Then
// it installs each package that stands alone into a project of its own, and loads all of its entries.
//
//   node scripts/consumer.ts             packs first (after a build)
//   node scripts/consumer.ts <folder>    uses the tarballs in a folder
//
// CONSUMER_NODE names the Node that runs the program; by default, the workspace's own.

const { CONSUMER_NODE: node = process.execPath } = process.env
const INSTALL = pnpm('install', '--prefer-offline', '--no-frozen-lockfile', '--ignore-workspace')
/** The installed command. */
const CLI = 'node_modules/@episodic/harness/dist/cli.js'

/** The packages that are used without the others. An install brings only what they themselves depend on. */
const ALONE = ['@episodic/state', '@episodic/mcp-server', '@episodic/env', '@episodic/dataset']
/** Entries that need an optional peer dependency. */
const WITH_PEERS = ['@episodic/state/testing']

await inEmptyProject('consumer', async ({ folder: project, run }) => {
  const tarballs = process.argv[2] ?? join(project, 'tarballs')
  if (process.argv[2] === undefined) await run(packCommand(listPublished(), tarballs), root)
  await cp(join(root, 'scripts', 'consumer'), project, { recursive: true })
  const packed = packedPackages(tarballs)
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest(packed), null, 2))
  await run(INSTALL)
  await run([join(project, 'node_modules', '.bin', 'tsc'), '-p', '.'])
  console.log(await run([node, 'dist/main.js']))
  const tasks = ['--tasks', '20', '--transport', 'http', '--json']
  const report = await run([node, CLI, 'run', './dist/higher-or-lower.js', ...tasks])
  const { counts, success } = lastJson(report)
  if (counts.finished !== 20 || success.overall.rate !== 1) throw new Error(`The installed command reported ${report}`)
  for (const { name, entries } of listPublished().filter(({ name }) => ALONE.includes(name))) {
    const folder = join(project, 'alone', name)
    await mkdir(folder, { recursive: true })
    const dependencies = { [name]: packed[name], zod: installedVersion('packages/protocol', 'zod') }
    const alone = { name: 'episodic-alone', private: true, type: 'module', dependencies, pnpm: { overrides: packed } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(alone, null, 2))
    // Without hoisting, a package finds nothing that it does not depend on.
    await run([...INSTALL, '--config.hoist=false'], folder)
    const imports = [...entries.keys()].filter((entry) => !WITH_PEERS.includes(entry))
    await run([node, '--input-type=module', '--eval', imports.map((entry) => `import '${entry}'`).join('\n')], folder)
    console.log(`${name} loads alone: ${imports.length} entries`)
  }
})

function manifest(packed: Readonly<Record<string, string>>): object {
  return {
    name: 'episodic-consumer',
    private: true,
    type: 'module',
    packageManager: readJson('package.json').packageManager,
    dependencies: {
      ...packed,
      zod: installedVersion('packages/protocol', 'zod'),
      compromise: installedVersion('satellites/contexts', 'compromise'),
    },
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
