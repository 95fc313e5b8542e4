import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, type Workshop } from '../../fixtures/episodic.fixture.ts'

const BISECTING = fileURLToPath(new URL('../../fixtures/agents/guessing-agent.fixture.ts', import.meta.url))
const WORLD = exampleWorld('number-guessing')

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(() => workshop[Symbol.dispose]())

const at = (...path: string[]) => join(workshop.folder, ...path)

async function run(policy: string, out: string, options: readonly string[] = [], env: Record<string, string> = {}) {
  const args = ['run', WORLD, '--policy', policy, '--tasks', '3', '--out', out, '--json', ...options]
  const { status, out: summary, err } = await workshop.main(args, { env })
  return { status, err, summary: summary === '' ? null : JSON.parse(summary) }
}

/** An ended process stays in the process table until its parent reads its status. */
function isRunning(pid: number): boolean {
  const status = `/proc/${pid}/status`
  return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, 'utf8'))
}

/** Writes a module that exports an agent. `play` is the body of a function of an assignment. */
function writeAgent(file: string, play: string): string {
  const define = import.meta.resolve('@episodic/harness')
  const source = `import { defineAgent } from '${define}'
import { Client } from '${import.meta.resolve('@modelcontextprotocol/sdk/client/index.js')}'
import { StreamableHTTPClientTransport } from '${import.meta.resolve('@modelcontextprotocol/sdk/client/streamableHttp.js')}'
async function connect(url) {
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}
export const agent = defineAgent({ name: 'written', async play({ url, task, observation, seed, signal }) { ${play} } })
`
  writeFileSync(at(file), source)
  return `agent:${file}`
}

describe('episodic run --policy process:<command>', () => {
  it('plays with a program that gets only an address, and the run can be replayed', async () => {
    const { status, summary } = await run(`process:node ${BISECTING}`, 'bisected', [
      '--shaping',
      '--file',
      '{"weights":{"solved":2}}',
    ])
    expect(status).toBe(0)
    expect(summary.counts).toMatchObject({ finished: 3, failed: 0 })
    expect(summary.success.overall).toMatchObject({ successes: 3 })
    const [{ steps }] = readEpisodes(at('bisected')) as [ReturnType<typeof readEpisodes>[number]]
    // The time at which the agent sent its calls is unknown.
    expect(summary.time.step).toBeNull()
    expect(steps.map(({ milliseconds }) => milliseconds)).toEqual(steps.map(() => null))
    // Rewards are weighed and shaped as for any policy.
    expect(steps.at(-1)!.reward).toMatchObject({ terms: { solved: 1, cost: -0.01 }, shaping: expect.any(Number) })
    expect(steps.at(-1)!.reward.total).toBeCloseTo(2 - 0.01 + steps.at(-1)!.reward.shaping, 9)
    const replay = await workshop.main(['replay', 'bisected', '--world', WORLD, '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 3, diverged: 0 })
  })

  it('does not wait for a daemon that an agent leaves behind and that holds its pipe', async () => {
    // It has become a daemon once it has written its id. The test ends it.
    const command = `setsid sh -c 'echo $$ >> daemons; sleep 600' & while [ ! -s daemons ]; do :; done; exit 0`
    const { summary } = await run(`process:${command}`, 'daemon', ['--tasks', '1'])
    const [daemon] = readFileSync(at('daemons'), 'utf8').trim().split('\n').map(Number)
    try {
      expect(isRunning(daemon as number)).toBe(true)
      expect(summary.ends.truncated).toEqual([{ name: 'no-action', count: 1 }])
    } finally {
      process.kill(-(daemon as number), 'SIGKILL')
    }
  })

  it('ends all processes of an agent when its episode ends, and passes it no secret', async () => {
    const token = 'the-token-of-the-operator'
    const secrets = {
      EPISODIC_TOKEN: token,
      EPISODIC_CONTROL_TOKEN: `control-${token}`,
      EPISODIC_QUEUE_SECRET: `queue-${token}`,
      EPISODIC_MCP_URL: `http://127.0.0.1:1/mcp/s/${token}`,
      // The same value under a name of the operator's.
      MINE: `control-${token}`,
    }
    // It leaves a process behind that ignores SIGTERM, and continues after the last guess.
    const command = `trap '' TERM; sh -c "trap '' TERM; echo \\$\\$ >> pids; sleep 600" & { env; ls -a home; } > seen-$$; node ${BISECTING}; sleep 600`
    const { summary } = await run(`process:${command}`, 'hung', ['--tasks', '2'], secrets)
    expect(summary.counts).toMatchObject({ finished: 2, failed: 0 })
    const pids = readFileSync(at('pids'), 'utf8').trim().split('\n').map(Number)
    expect(pids).toHaveLength(2)
    for (const pid of pids) expect(isRunning(pid), `${pid} still runs`).toBe(false)
    const { seed } = readEpisodes(at('hung'))[0] as { seed: string }
    expect(await workshop.main(['replay', 'hung', '--world', WORLD])).toMatchObject({ status: 0 })
    const seen = readdirSync(workshop.folder).filter((file) => file.startsWith('seen-'))
    expect(seen).toHaveLength(2)
    for (const file of seen) {
      const text = readFileSync(at(file), 'utf8')
      expect(text).toContain('EPISODIC_MCP_URL=http://127.0.0.1:')
      expect(text).toContain('EPISODIC_PROMPT=')
      expect(text).not.toContain(token)
      expect(text).not.toContain(seed)
      // The server of the run keeps its token in no file.
      expect(text).not.toContain('.token')
    }
  })

  it.each([1, 2])('leaves no process behind when it is killed (processes: %i)', async (processes) => {
    const out = `killed-${processes}`
    const command = `trap '' TERM; echo $$ >> ${out}-pids; sleep 600`
    const args = [
      '--policy',
      `process:${command}`,
      '--concurrency',
      '2',
      '--processes',
      String(processes),
      '--out',
      out,
    ]
    const started = workshop.start(['run', WORLD, '--tasks', '2', ...args])
    const agents = async () => {
      for (;;) {
        const pids = existsSync(at(`${out}-pids`))
          ? readFileSync(at(`${out}-pids`), 'utf8')
              .trim()
              .split('\n')
          : []
        if (pids.length === 2) return pids.map(Number)
        await nextTurn()
      }
    }
    const pids = await agents()
    expect(pids.map(isRunning)).toEqual([true, true])
    started.kill('SIGKILL')
    await started.ended
    while (pids.some(isRunning)) await nextTurn()
  })
})

describe('episodic run --policy agent:<file>', () => {
  it('plays with a module, with the requested processes and endpoint', async () => {
    const play = `
      const client = await connect(url)
      let [low, high] = /from (-?\\d+) to (-?\\d+)/.exec(observation.text).slice(1).map(Number)
      for (;;) {
        const value = Math.floor((low + high) / 2)
        const { structuredContent: { hint } } = await client.callTool({ name: 'guess', arguments: { value } })
        if (hint === 'correct') return client.close()
        if (hint === 'higher') low = value + 1; else high = value - 1
      }`
    const agent = writeAgent('bisect.mjs', play)
    const { status, summary } = await run(agent, 'module', ['--processes', '2'])
    expect(status).toBe(0)
    expect(summary.success.overall).toMatchObject({ successes: 3, count: 3 })
    expect(summary.policies).toEqual(['written'])
    const serving = await workshop.serve([WORLD])
    const served = await run(agent, 'served', ['--url', serving.url])
    expect(served.summary.success.overall).toMatchObject({ successes: 3, count: 3 })
    serving.kill('SIGTERM')
    await serving.ended
  })

  it.each([
    [['--policy', 'process: '], /process: needs a command/],
    [['--policy', 'agent:./nowhere.mjs'], /nowhere\.mjs does not load/],
    [['--policy', `process:true`, '--branch', '2@1'], /--branch needs a policy/],
    [['--policy', `process:true`, '--transport', 'stdio'], /An agent plays over HTTP/],
  ])('rejects %s', async (options, message) => {
    const { status, err } = await workshop.main(['run', WORLD, '--tasks', '1', '--out', 'refused', ...options])
    expect(status).toBe(2)
    expect(err).toMatch(message)
  })
})
