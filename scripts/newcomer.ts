import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { inEmptyProject, packedPackages } from './empty-project.ts'
import { readJson, root } from './workspace.ts'

// Starts as a newcomer does: installs `episodic` and `zod` with npm into an empty project outside the workspace, and
// runs and checks the README's first environment with `npx episodic`.
//
//   node scripts/newcomer.ts <folder>    the folder has the packed tarballs

const { positionals } = parseArgs({ allowPositionals: true })
const [tarballs] = positionals
if (!tarballs) throw new Error('Name the folder of the tarballs: node scripts/newcomer.ts <folder>')

await inEmptyProject('newcomer', async ({ folder: project, run }) => {
  const { version } = readJson(join('packages/protocol/node_modules/zod/package.json'))
  await cp(join(root, 'scripts/newcomer/my-world.ts'), join(project, 'my-world.ts'))
  const { episodic, ...overrides } = packedPackages(tarballs)
  const manifest = { private: true, type: 'module', dependencies: { episodic, zod: version }, overrides }
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  await run(['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline'])
  const report = await run(['npx', 'episodic', 'run', 'my-world.ts', '--json'])
  const { counts } = JSON.parse(report.split('\n').at(-1) as string)
  if (counts.finished !== 100) throw new Error(`The run reported ${JSON.stringify(counts)}`)
  await run(['npx', 'episodic', 'check', 'my-world.ts'])
  console.log(`${counts.finished} episodes of my-world.ts played and the world checked by npx episodic`)
})
