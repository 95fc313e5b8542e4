/**
 * One process against two. `episodic run --processes`: steps and episodes a second, in a world whose rules compute and
 * in one whose rules cost next to nothing, compared with two independent runs at once, which are the limit of the
 * machine. `episodic serve --processes` on a Redis: calls a second if each connection plays its own sessions and so
 * stays with one process, and if sessions move between the processes. A process then often plays a step on an outdated
 * cached session and repeats it on the stored one, because the calls carry no `seq` that would show that the session is
 * outdated.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { summarySchema } from '@episodic/harness'
import { META } from '@episodic/protocol'
import { startRedis } from '../../chaos/processes/redis.ts'
import { type Killable, startProcess } from '../../chaos/processes/start-process.ts'
import { inTurn, median, ratio, report, round2 } from '../figures.ts'
import { drive } from '../http-load.ts'
import { needProgram } from '../needs.ts'
import { authorize, openSession } from '../trainer-endpoint.ts'

const ROUNDS = 5
/** The least speed, relative to two independent runs at once. */
const FLOOR = 0.85
const SESSIONS = 96
const CONNECTIONS = 32
const CALLS = 4_800

const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))
const SEARCHING = fileURLToPath(new URL('../servers/searching-world.ts', import.meta.url))
const GUESSING = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))
const WORLDS = {
  computing: { world: SEARCHING, tasks: 250, options: ['--max-steps', '20'] },
  light: { world: GUESSING, tasks: 20_000, options: [] },
}
const ENVIRONMENT = { EPISODIC_CONTROL_TOKEN: 'the-control-token-of-this-benchmark' }

needProgram('redis-server')
const folder = mkdtempSync(join(tmpdir(), 'episodic-processes-'))
const episodic = (...args: string[]): Killable =>
  startProcess(process.execPath, [CLI, ...args], {
    cwd: folder,
    env: { ...ENVIRONMENT, EPISODIC_HOME: join(folder, 'home') },
  })

let runs = 0
/** Resolves with the steps a second of a run, from the start of its first episode to the end of its last. */
async function play(name: keyof typeof WORLDS, processes: number, share = 1): Promise<number> {
  const { world, tasks, options } = WORLDS[name]
  const count = String(tasks * share)
  const out = `run-${runs++}`
  const asked = ['run', world, '--tasks', count, '--processes', String(processes), '--out', out, '--json', ...options]
  await using run = episodic(...asked)
  const { counts, time } = summarySchema.parse(JSON.parse(await run.line()))
  if (counts.finished !== tasks * share) throw new Error(`Of ${count} episodes, ${counts.finished} finished.`)
  episodesPerStep[name] = counts.finished / counts.steps
  rmSync(join(folder, out), { recursive: true })
  return time.stepsPerSecond ?? 0
}
const episodesPerStep = { computing: 0, light: 0 }

/** Measures the same with two runs at once, each with half of the episodes. */
async function playApart(name: keyof typeof WORLDS): Promise<number> {
  const rates = await Promise.all([play(name, 1, 0.5), play(name, 1, 0.5)])
  return rates.reduce((sum, rate) => sum + rate, 0)
}

/** Starts a server on a Redis, and opens its sessions. */
async function serve(cleanUp: AsyncDisposableStack, redis: string, processes: number) {
  const options = ['--port', '0', '--store', redis, '--processes', String(processes), '--log-level', 'warn', '--json']
  const server = cleanUp.use(episodic('serve', SEARCHING, ...options))
  const { trainerUrl } = JSON.parse(await server.line()) as { trainerUrl: string }
  const endpoint = { trainerUrl, token: ENVIRONMENT.EPISODIC_CONTROL_TOKEN }
  const sessions: string[] = []
  for (let id = 0; id < SESSIONS; id++)
    sessions.push((await openSession(endpoint, 'searching', `processes-benchmark-${processes}-${id}`)).session)
  return { port: Number(new URL(trainerUrl).port), headers: authorize(endpoint), sessions }
}

/** Resolves with the calls a second of so many connections, which play the sessions in turn. */
async function call(
  { port, headers, sessions }: Awaited<ReturnType<typeof serve>>,
  connections: number,
  calls: number,
): Promise<number> {
  let id = 0
  const body = () => {
    const _meta = { [META.session]: sessions[id % sessions.length] }
    // The same numbers in each measurement: larger ones cost several times as much, and make the engine optimize worse.
    const from = 1 + (id % (CALLS / CONNECTIONS)) * 500
    const params = { name: 'search', arguments: { from }, _meta }
    return JSON.stringify({ jsonrpc: '2.0', id: id++, method: 'tools/call', params })
  }
  return drive({ port, path: () => '/env', headers, body, connections, calls })
}

/** Measures the same if each connection has its own sessions. */
async function callApart(server: Awaited<ReturnType<typeof serve>>): Promise<number> {
  const { sessions } = server
  const share = SESSIONS / CONNECTIONS
  const began = performance.now()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, i) =>
      call({ ...server, sessions: sessions.slice(i * share, (i + 1) * share) }, 1, CALLS / CONNECTIONS),
    ),
  )
  return CALLS / ((performance.now() - began) / 1_000)
}

try {
  await using redis = await startRedis(join(folder, 'redis'))
  await using servers = new AsyncDisposableStack()
  const [one, two] = [await serve(servers, redis.url, 1), await serve(servers, redis.url, 2)]
  const rates = await inTurn(ROUNDS, {
    'computing 1': () => play('computing', 1),
    'computing 2': () => play('computing', 2),
    'computing apart': () => playApart('computing'),
    'light 1': () => play('light', 1),
    'light 2': () => play('light', 2),
    'light apart': () => playApart('light'),
    'serve 1': () => callApart(one),
    'serve 2': () => callApart(two),
    'serve 2 moving': () => call(two, CONNECTIONS, CALLS),
  })
  const run = (name: keyof typeof WORLDS) => {
    const [one, two, apart] = [rates[`${name} 1`], rates[`${name} 2`], rates[`${name} apart`]]
    return {
      stepsPerSecond: [Math.round(median(one)), Math.round(median(two))],
      episodesPerSecond: [one, two].map((steps) => round2(median(steps) * episodesPerStep[name])),
      ratio: ratio(two, one),
      toApart: ratio(two, apart),
    }
  }
  const [computing, light] = [run('computing'), run('light')]
  report('processes', {
    ok: computing.toApart >= FLOOR && light.toApart >= FLOOR,
    computing,
    light,
    serve: {
      callsPerSecond: [Math.round(median(rates['serve 1'])), Math.round(median(rates['serve 2']))],
      ratio: ratio(rates['serve 2'], rates['serve 1']),
      movingCallsPerSecond: Math.round(median(rates['serve 2 moving'])),
      movingRatio: ratio(rates['serve 2 moving'], rates['serve 1']),
    },
  })
} finally {
  rmSync(folder, { recursive: true, maxRetries: 3 })
}
