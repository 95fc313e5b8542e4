import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { runCommand } from './run-command.ts'
import { root } from './workspace.ts'

/** A small workspace with an allowed import for every rule. */
const CLEAN = {
  'packages/protocol/src/index.ts': "export { word } from './lib/word.ts'",
  'packages/protocol/src/lib/word.ts': "export const word = 'word'",
  'packages/protocol/src/lib/word.test.ts': "import '../index.ts'\nimport 'node:fs'",
  'packages/protocol/src/lib/wire/step.ts': 'export const step = 1',
  'packages/state/src/index.ts': "export { session } from './lib/session.ts'",
  'packages/state/src/sqlite.ts': "export { store } from './lib/sqlite/sqlite-store.ts'",
  'packages/state/src/lib/session.ts': "import { word } from '@episodic/protocol'\nexport const session = word",
  'packages/state/src/lib/sqlite/sqlite-store.ts': "import 'node:sqlite'\nexport const store = 1",
  'packages/mcp-server/src/index.ts': "export { host } from './lib/host.ts'",
  'packages/mcp-server/src/http.ts': "export { serve } from './lib/http/serve-http.ts'",
  'packages/mcp-server/src/lib/host.ts': "import '@episodic/state'\nexport const host = 1",
  'packages/mcp-server/src/lib/environment/rehearse/play.ts': "import '../rules/play.ts'",
  'packages/mcp-server/src/lib/environment/rules/play.ts': 'export const play = 1',
  'packages/mcp-server/src/lib/host/sessions/kept.ts': "import '../access/token.ts'",
  'packages/mcp-server/src/lib/host/access/token.ts': 'export const token = 1',
  'packages/mcp-server/src/lib/http/serve-http.ts':
    "import 'node:http'\nimport '../dispatch/sdk-discovery.ts'\nexport const serve = 1",
  'packages/mcp-server/src/lib/dispatch/sdk-discovery.ts': "import '@modelcontextprotocol/sdk'",
  'packages/env/src/index.ts': "export { play } from './lib/play.ts'",
  'packages/env/src/lib/play.ts': "import '@episodic/protocol'\nexport const play = 1",
  'packages/env/src/lib/play.test.ts': "import '@episodic/mcp-server'\nimport '@modelcontextprotocol/sdk'",
  'packages/dataset/src/index.ts': "export { tasks } from './lib/tasks.ts'",
  'packages/dataset/src/jsonl.ts': "export { lines } from './lib/jsonl.ts'",
  'packages/dataset/src/lib/tasks.ts': "import '@episodic/protocol'\nexport const tasks = 1",
  'packages/dataset/src/lib/jsonl.ts': "import 'node:fs'\nexport const lines = 1",
  'satellites/contexts/src/index.ts': "import '@episodic/mcp-server'",
  'satellites/contexts/src/http.ts': "export { serve } from './lib/http/conversations.ts'",
  'satellites/contexts/src/lib/http/conversations.ts': "import 'node:http'\nexport const serve = 1",
  'packages/mcp-client/src/index.ts': "export const open = () => import('./lib/http/sdk-http.ts')",
  'packages/mcp-client/src/lib/http/sdk-http.ts': "import 'node:http'\nimport '@modelcontextprotocol/sdk'",
  'satellites/agent/src/index.ts': "import '@episodic/mcp-client'",
  'apps/harness/src/index.ts': "import 'node:fs'\nimport '@episodic/mcp-server/http'\nimport '@episodic/env'",
  'packages/play/src/lib/worlds/world.ts': 'export const world = 1',
  'packages/play/src/lib/play/play-run.ts': "import '../worlds/world.ts'\nimport './record/seal.ts'",
  'packages/play/src/lib/play/record/seal.ts': 'export const seal = 1',
  'packages/play/src/lib/play/episodes/runner.ts': "import '../record/seal.ts'",
  'examples/world/src/index.ts': "import '@episodic/mcp-server'\nimport '@episodic/env'",
  'examples/training/src/worlds/world.ts': "import '../network/network.ts'",
  'examples/training/src/network/network.ts': 'export const network = 1',
  'examples/stateful-agents/src/index.ts': "import '@modelcontextprotocol/sdk'",
  'bench/bench.ts': "import '@modelcontextprotocol/sdk'\nimport '@episodic/env'",
  'testing/players/player.ts': "import '@episodic/protocol'",
}

/** Forbidden imports, each with the rule that reports it. */
const BROKEN: readonly (readonly [rule: string, file: string, source: string])[] = [
  ['imports-of-protocol', 'packages/protocol/src/lib/a.ts', "import '@episodic/state'"],
  ['imports-of-protocol', 'packages/protocol/src/lib/b.ts', "import type { session } from '@episodic/state'"],
  ['imports-of-state', 'packages/state/src/lib/a.ts', "import '@episodic/env'"],
  ['imports-of-state', 'packages/state/src/lib/b.ts', "export const late = () => import('@episodic/env')"],
  ['imports-of-mcp-server', 'packages/mcp-server/src/lib/a.ts', "import '@episodic/env'"],
  ['imports-of-env', 'packages/env/src/lib/a.ts', "import '@episodic/mcp-server'"],
  ['imports-of-env', 'packages/env/src/lib/b.ts', "import '@episodic/state'"],
  ['imports-of-env', 'packages/env/src/lib/n.ts', "import '@episodic/agent'"],
  ['imports-of-dataset', 'packages/dataset/src/lib/a.ts', "import '@episodic/state'"],
  ['imports-of-contexts', 'satellites/contexts/src/lib/a.ts', "import '@episodic/env'"],
  ['imports-of-agent', 'satellites/agent/src/lib/a.ts', "import '@episodic/mcp-server'"],
  ['imports-of-protocol/base', 'packages/protocol/src/lib/base/p.ts', "import '../wire/step.ts'"],
  ['imports-of-mcp-server/host', 'packages/mcp-server/src/lib/host/c.ts', "import '../http/serve-http.ts'"],
  ['imports-of-state/store', 'packages/state/src/lib/store/m.ts', "import '../sqlite/sqlite-store.ts'"],
  ['imports-of-play/worlds', 'packages/play/src/lib/worlds/n.ts', "import '../play/play-run.ts'"],
  ['imports-of-play/record', 'packages/play/src/lib/play/record/o.ts', "import '../episodes/runner.ts'"],
  [
    'imports-of-environment/rules',
    'packages/mcp-server/src/lib/environment/rules/r.ts',
    "import '../rehearse/play.ts'",
  ],
  ['imports-of-host/access', 'packages/mcp-server/src/lib/host/access/s.ts', "import '../sessions/kept.ts'"],
  ['imports-of-training/network', 'examples/training/src/network/q.ts', "import '../worlds/world.ts'"],
  ['known-rooms', 'packages/newcomer/src/index.ts', "import '@episodic/protocol'"],
  ['packages-stand-alone', 'packages/state/src/lib/c.ts', "import '../../../../apps/harness/src/index.ts'"],
  ['packages-stand-alone', 'packages/state/src/lib/d.test.ts', "import '../../../../examples/world/src/index.ts'"],
  ['players-know-no-program', 'testing/players/a.ts', "import '../../bench/bench.ts'"],
  ['packages-by-name', 'packages/state/src/lib/e.ts', "import '../../../protocol/src/lib/word.ts'"],
  ['packages-by-name', 'examples/world/src/a.ts', "import '../../../packages/state/src/lib/session.ts'"],
  ['packages-by-name', 'bench/a.ts', "import '../packages/state/src/lib/session.ts'"],
  ['no-own-index', 'packages/state/src/lib/f.ts', "import '../index.ts'"],
  ['no-own-index', 'packages/state/src/lib/g.ts', "import '../sqlite.ts'"],
  ['tests-stay-out', 'packages/env/src/lib/m.ts', "import './play.test.ts'"],
  ['no-circular', 'packages/state/src/lib/h.ts', "import './h.ts'"],
  ['no-circular', 'packages/state/src/lib/i.ts', "import type { J } from './j.ts'\nexport type I = J"],
  ['sdk-in-few-files', 'packages/mcp-server/src/lib/b.ts', "import '@modelcontextprotocol/sdk'"],
  ['sdk-in-few-files', 'packages/env/src/lib/c.ts', "import type { Tool } from '@modelcontextprotocol/sdk'"],
  ['sdk-in-few-files', 'satellites/agent/src/lib/sdk-b.ts', "import '@modelcontextprotocol/sdk'"],
  ['sdk-in-few-files', 'apps/harness/src/a.ts', "import '@modelcontextprotocol/sdk'"],
  ['node-behind-subpaths', 'packages/protocol/src/lib/c.ts', "import 'node:crypto'"],
  ['protocol-without-node', 'packages/protocol/src/lib/c.ts', "import 'node:crypto'"],
  ['node-behind-subpaths', 'packages/state/src/lib/k.ts', "import type { Stats } from 'node:fs'"],
  ['not-resolvable', 'packages/state/src/lib/l.ts', "import './nowhere.ts'"],
]

const workspaces: string[] = []
afterEach(async () => {
  for (const folder of workspaces.splice(0)) await rm(folder, { recursive: true })
})

describe('import directions', () => {
  it('accept a clean workspace', async () => {
    expect(await violations({})).toEqual([])
  })

  it('report every forbidden import, and nothing else', async () => {
    const files = Object.fromEntries(BROKEN.map(([, file, source]) => [file, source]))
    const otherHalfOfTheCycle = { 'packages/state/src/lib/j.ts': "import type { I } from './i.ts'\nexport type J = I" }
    const reported = await violations({ ...files, ...otherHalfOfTheCycle })
    expect(reported).toEqual(BROKEN.map(([rule, file]) => `${rule}: ${file}`).sort())
  })

  it('see Node behind a root entry through other files and other packages', async () => {
    expect(await violations({ 'packages/state/src/index.ts': "import './sqlite.ts'" })).toEqual([
      'root-entry-without-node: packages/mcp-server/src/index.ts',
      'root-entry-without-node: packages/state/src/index.ts',
      'root-entry-without-node: satellites/contexts/src/index.ts',
    ])
  })
})

/** Lays out the small workspace with `files` added, runs the rules over it, and says who broke which. */
async function violations(files: Record<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-rooms-'))
  workspaces.push(folder)
  for (const [file, source] of Object.entries({ ...CLEAN, ...files })) await write(join(folder, file), source)
  await write(join(folder, 'node_modules/@modelcontextprotocol/sdk/dist/index.js'), '')
  await write(join(folder, 'node_modules/@modelcontextprotocol/sdk/package.json'), '{"main":"dist/index.js"}')
  await mkdir(join(folder, 'node_modules/@episodic'))
  const packages = ['protocol', 'state', 'mcp-server', 'env', 'mcp-client', 'dataset', 'newcomer'].map(
    (name) => `packages/${name}`,
  )
  for (const home of [...packages, 'satellites/contexts', 'satellites/agent']) {
    const name = `@episodic/${basename(home)}`
    const exports = { '.': './src/index.ts', './*': './src/*.ts' }
    await write(join(folder, home, 'package.json'), JSON.stringify({ name, exports }))
    await symlink(join(folder, home), join(folder, 'node_modules', name))
  }
  const config = join(root, '.dependency-cruiser.mjs')
  const rooms = ['packages', 'satellites', 'apps', 'examples', 'bench', 'testing']
  const { output } = await runCommand(['depcruise', '--config', config, '--output-type=json', ...rooms], { folder })
  const { summary } = JSON.parse(output) as { summary: { violations: { rule: { name: string }; from: string }[] } }
  return [...new Set(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`))].sort()
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
