import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { KINDS, type KindName } from 'create-episodic'
import { openPythonEnvironment } from '../interop/python-environment.ts'
import { inEmptyProject, lastJson } from './empty-project.ts'
import { checkInstalledSize } from './installed-size.ts'
import { LIMITS } from './limits.ts'
import { startRegistry } from './local-registry.ts'
import { root } from './workspace.ts'

// Starts as a newcomer does, from a registry that has the packages as they would be published: installs `episodic` and
// `zod` by their names into an empty folder, runs and checks the README's first environment, and runs the one of an MCP
// server; serves a world from Python, where nothing but Node is installed; and creates a project of each kind with
// `npm create episodic`, whose own tests pass.
//
//   node scripts/newcomer.ts <folder>    the folder has the packed tarballs

const { positionals } = parseArgs({ allowPositionals: true })
const [tarballs] = positionals
if (!tarballs) throw new Error('Name the folder of the tarballs: node scripts/newcomer.ts <folder>')

await inEmptyProject('newcomer', async (project) => {
  const { folder, run } = project
  await using registry = await startRegistry(project, tarballs)
  // As options, because a variable with the usual registry, such as pnpm sets, comes before a file.
  const options = ['--registry', registry.url, '--no-fund', '--no-audit', '--prefer-offline']

  const first = join(folder, 'first')
  await mkdir(first)
  await writeFile(join(first, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  for (const world of ['my-world.ts', 'who-knows-whom.ts'])
    await cp(join(root, 'scripts/newcomer', world), join(first, world))
  await run(['npm', 'install', ...options, 'episodic', 'zod'], first)
  const size = checkInstalledSize(first, LIMITS.installed.most.episodic)
  console.log(`npm install episodic zod: ${size.packages} packages of ${size.megabytes} MB`)
  const report = await run(['npx', 'episodic', 'run', 'my-world.ts', '--json'], first)
  const { counts } = lastJson(report)
  if (counts.finished !== 100) throw new Error(`The run reported ${JSON.stringify(counts)}`)
  await run(['npx', 'episodic', 'check', 'my-world.ts'], first)
  await run(['npm', 'install', ...options, '@modelcontextprotocol/server-memory'], first)
  const played = await run(['npx', 'episodic', 'run', 'who-knows-whom.ts', '--tasks', '2', '--json'], first)
  if (lastJson(played).counts.finished !== 2) throw new Error(played)
  console.log(`${counts.finished} episodes of my-world.ts played and the world checked by npx episodic`)

  // npm keeps what it has created with or started once, and would use an older one of the same version.
  const cache = ['--cache', join(folder, 'cache')]
  const fromPython = join(folder, 'from-python')
  await cp(join(root, 'clients/python/src'), fromPython, { recursive: true })
  await cp(join(root, 'scripts/newcomer/served-from-python.py'), join(fromPython, 'play.py'))
  const { python } = openPythonEnvironment('episodic-env.txt', (text) => console.log(text))
  const settings = [`npm_config_registry=${registry.url}`, `npm_config_cache=${join(folder, 'cache')}`]
  const printed = await run(['env', ...settings, python, 'play.py'], fromPython)
  // npm warns of the settings of pnpm that started it.
  if (printed.split('\n').at(-1) !== '1') throw new Error(`The program in Python printed ${printed}`)
  console.log('a step of number-guessing played from Python, on a server that npx downloaded')

  for (const kind of Object.keys(KINDS) as KindName[]) {
    const began = performance.now()
    await run(['npm', 'create', '--yes', ...options, ...cache, 'episodic', kind, '--', '--kind', kind])
    const created = join(folder, kind)
    await run(['npm', 'install', ...options], created)
    const { megabytes, packages } = checkInstalledSize(created, LIMITS.installed.most[kind])
    await run(['npm', 'test'], created)
    const seconds = Math.round((performance.now() - began) / 1_000)
    console.log(`npm create episodic ${kind}: ${packages} packages of ${megabytes} MB, tested after ${seconds} s`)
  }
})
