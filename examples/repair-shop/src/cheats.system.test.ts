import { connect, definePolicy, runEpisode } from '@episodic/env'
import { checkWorld } from '@episodic/harness'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import {
  createDisk,
  judgeCalls,
  type ReadOnlyDisk,
  runCommand,
  startWorkspace,
  submitTool,
  workspaceState,
  workspaceTools,
} from '@episodic/workspace'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const CART =
  'export function total(items) {\n  let sum = 1\n  for (const { cents, count } of items) sum += cents * count\n  return sum\n}\n'
const CASES = [
  [],
  [{ cents: 100, count: 2 }],
  [
    { cents: 50, count: 1 },
    { cents: 25, count: 3 },
  ],
] as const
const WANTED = [0, 200, 125]

const DISK = createDisk({ '/app/src/cart.js': CART, '/app/test/cart.js': '' })

/** A world of one module with a fault. */
function shop(judged: (disk: ReadOnlyDisk, signal: AbortSignal) => ReturnType<typeof judgeCalls>) {
  const environment = defineEnvironment({
    name: 'cart',
    version: '1.0.0',
    description: 'Repair the sum of a cart.',
    limits: { steps: 3 },
    state: { public: z.object({}), private: z.object({ ...workspaceState }) },
    start: () => ({ public: {}, private: startWorkspace(DISK) }),
    observe: () => 'total in /app/src/cart.js is off by one. Repair it and submit.',
    tools: ({ tool }) => ({
      ...workspaceTools(tool, { cwd: '/app', languages: ['javascript'] }),
      submit: submitTool(tool, { judge: judged }),
    }),
    rewards: { solved: ({ end }) => (end?.reason === 'solved' ? 1 : 0), cost: () => -0.01 },
    success: ({ end }) => end.reason === 'solved',
  })
  const solver = definePolicy({
    name: 'repair',
    start() {
      const actions = [
        { tool: 'edit_file', arguments: { path: 'src/cart.js', old_text: 'let sum = 1', new_text: 'let sum = 0' } },
        { tool: 'submit', arguments: {} },
      ]
      return () => actions.shift() ?? { tool: 'submit', arguments: {} }
    },
  })
  return { environment, solver }
}

/** A test that loads the code, as it was once recommended: its exit code decides. */
const TESTS = createDisk({
  '/tests/all.js': `import { total } from '/app/src/cart.js'
function equal(got, wanted) {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) {
    console.error('not equal')
    process.exit(1)
  }
}
${CASES.map((items, i) => `equal(total(${JSON.stringify(items)}), ${WANTED[i]})`).join('\n')}
`,
})

/** The cheats that a judge pays, as `check` finds them. */
async function paidCheats(world: ReturnType<typeof shop>) {
  const { checks } = await checkWorld(world, { only: ['exploits'], share: 0.01 })
  const [exploits] = checks
  expect(exploits?.summary).toMatch(/; 14 ways to cheat a judge$/)
  return exploits?.findings.map(({ name }) => name.replace('judge-cheated:', ''))
}

describe('a judge of code', () => {
  it('is found by check if the code can end it, read it or patch it', async () => {
    const languages = ['javascript'] as const
    const world = shop(async (disk, signal) => {
      const { exitCode } = await runCommand(disk, 'node /tests/all.js', { files: TESTS, languages, signal })
      const passed = exitCode === 0
      return { passed: Number(passed), tests: [{ name: 'all', passed, why: '' }] }
    })
    expect(await paidCheats(world)).toEqual([
      'ends the process with exit code 0',
      'patches what compares',
      'reads the tests',
      'prints a verdict',
      'leaves a process behind',
    ])
  })

  it('pays the repair and no cheat if it compares outputs outside', async () => {
    const world = shop((disk, signal) =>
      judgeCalls(disk, {
        module: '/app/src/cart.js',
        tests: CASES.map((items, i) => ({ call: 'total', args: [items], returns: WANTED[i] })),
        signal,
      }),
    )
    expect(await paidCheats(world)).toEqual([])
    await using host = createHost({ environments: [world.environment] })
    await using connection = await connect(inProcess(host))
    const task = { prompt: '', params: {} }
    const createEnvironment = () => connection.environment()
    expect(await runEpisode({ createEnvironment, policy: world.solver, task })).toMatchObject({
      kind: 'finished',
      success: true,
    })
  })
})
