/**
 * What a run adds to its steps. `episodic run` plays hundreds of generated tasks at random, 256 in flight: records are
 * sealed and written, folded, and the progress is shown. In turn with it, the same actions are played in the same
 * number of sessions by `Environment.step` alone, with all sessions opened before and closed after the measurement,
 * and as whole episodes, which open and close their sessions too. In process, over HTTP and over a WebSocket.
 *
 * The floor of a run is its steps alone and a bare record of them: each step chained by the hash of its canonical JSON,
 * and each line written. Beside steps alone a run would look slower whenever a step becomes cheaper.
 *
 * A run is measured from the start of its first episode to its last progress, by the clock and by CPU time, of this
 * process and of the server. The plan that is checked before, and the report that is written after, are shown apart.
 *
 *   --worlds <names>       with commas between them. Default: number-guessing,frozen-lake,warehouse
 *   --transports <names>   with commas between them. Default: in process,HTTP,WebSocket
 *   --rounds <number>      in which each is measured once. Default: 3
 */
import { hash } from 'node:crypto'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '@episodic/env'
import { loadWorld, readSealed, type World } from '@episodic/harness'
import { createHost, inProcess } from '@episodic/mcp-server'
import { canonicalJson, type EpisodeRecord, type Json, type JsonObject } from '@episodic/protocol'
import { startProcess } from '../../chaos/processes/start-process.ts'
import { median, report, round2 } from '../figures.ts'
import { needProc } from '../needs.ts'
import { namesOf, readOptions, wholeNumber } from '../options.ts'
import { readCpu } from '../process-tree.ts'
import { onStart, playRunCommand } from './run-command.ts'

/** Tasks of each world: some 20,000 to 40,000 steps, since longer runs have the same costs a step. */
const EPISODES = { 'number-guessing': 1_024, 'frozen-lake': 1_024, warehouse: 384 }
type Name = keyof typeof EPISODES
const IN_FLIGHT = 256
const ROUNDS = 3
/** The least speed of a run, relative to its steps alone and a bare record of them, by CPU time. */
const FLOORS = { 'in process': 0.6, HTTP: 0.7, WebSocket: 0.7 }
type Transport = keyof typeof FLOORS
const TRANSPORTS = Object.keys(FLOORS) as Transport[]
const WORLDS = Object.keys(EPISODES) as Name[]

const options = readOptions({
  worlds: { type: 'string', default: WORLDS.join() },
  transports: { type: 'string', default: TRANSPORTS.join() },
  rounds: { type: 'string', default: String(ROUNDS) },
})
const worlds = namesOf('worlds', options.worlds, WORLDS)
const transports = namesOf('transports', options.transports, TRANSPORTS)
const rounds = wholeNumber('rounds', options.rounds)
const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))
const TOKEN = 'the-control-token-of-this-benchmark'
if (transports.some((transport) => transport !== 'in process')) needProc()
const folder = mkdtempSync(join(tmpdir(), 'episodic-run-'))

/** The clock and the CPU time that something took, in microseconds, and its steps. */
interface Taken {
  readonly clock: number
  readonly cpu: number
  readonly steps: number
}

/** Where episodes are played. */
interface Played {
  readonly world: World
  readonly connection: Connection
  /** How the command connects to the same server; none for a host in this process. */
  readonly target: readonly string[]
  /** Its server's process. */
  readonly server: number | null
}

type PlayedLine = Pick<EpisodeRecord, 'params' | 'seed' | 'steps'>

/** Starts to measure. The result returns what passed since. */
function start(server: number | null): () => Omit<Taken, 'steps'> {
  const [began, cpu, serverCpu] = [performance.now(), process.cpuUsage(), server === null ? 0 : readCpu(server)]
  return () => {
    const clock = (performance.now() - began) * 1_000
    const { user, system } = process.cpuUsage(cpu)
    return { clock, cpu: user + system + (server === null ? 0 : (readCpu(server) - serverCpu) * 1e6) }
  }
}

let runs = 0
/**
 * Plays a run with the command. Resolves also with the milliseconds of CPU before its first episode and after its last.
 */
async function run({ world, target, server }: Played) {
  globalThis.gc?.()
  const out = join(folder, `run-${runs++}`)
  const { name } = world.environment
  let played: Omit<Taken, 'steps'> | null = null
  let before = 0
  let stop = start(server)
  onStart((started) => {
    if (started > 1) return
    before = stop().cpu / 1_000
    stop = start(server)
  })
  const args = [
    name,
    ...target,
    '--tasks',
    String(EPISODES[name as Name]),
    '--concurrency',
    String(IN_FLIGHT),
    '--out',
    out,
  ]
  const { status, shown } = await playRunCommand(args, () => {
    played = stop()
    stop = start(server)
  })
  const after = stop().cpu / 1_000
  if (status !== 0 || !played) throw new Error(`The run of ${name} failed: ${shown}`)
  return { out, played: played as Omit<Taken, 'steps'>, before, after }
}

/** Plays every step of the lines, as many sessions at once as the run has. Opening and closing is not measured. */
async function playSteps({ connection, world, server }: Played, lines: readonly PlayedLine[]): Promise<Taken> {
  globalThis.gc?.()
  const taken = { clock: 0, cpu: 0, steps: 0 }
  for (let from = 0; from < lines.length; from += IN_FLIGHT) {
    const batch = lines.slice(from, from + IN_FLIGHT).map((line) => ({ line, environment: connection.environment() }))
    await Promise.all(batch.map(({ line, environment }) => environment.reset(taskOf(world, line))))
    const stop = start(server)
    await Promise.all(
      batch.map(async ({ line, environment }) => {
        for (const { action } of line.steps) await environment.step(action)
      }),
    )
    const { clock, cpu } = stop()
    taken.clock += clock
    taken.cpu += cpu
    for (const { line } of batch) taken.steps += line.steps.length
    await Promise.all(batch.map(({ environment }) => environment.close()))
  }
  return taken
}

/** Plays the lines as whole episodes, as many at once as the run has. */
async function playEpisodes({ connection, world, server }: Played, lines: readonly PlayedLine[]): Promise<Taken> {
  globalThis.gc?.()
  let steps = 0
  const next = lines.values()
  const lane = async () => {
    for (const line of next) {
      const environment = connection.environment()
      await environment.reset(taskOf(world, line))
      for (const { action } of line.steps) await environment.step(action)
      await environment.close()
      steps += line.steps.length
    }
  }
  const stop = start(server)
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  return { ...stop(), steps }
}

/**
 * Records the lines, and no more than that: each step is chained by a hash of its canonical JSON, and the text of each
 * line is written.
 */
function writeRecord(lines: readonly PlayedLine[]): Omit<Taken, 'steps'> {
  globalThis.gc?.()
  const file = join(folder, 'record.jsonl')
  const stop = start(null)
  for (const line of lines) {
    let chain = ''
    for (const step of line.steps) chain = hash('sha256', chain + canonicalJson(step as unknown as Json))
    appendFileSync(file, `${JSON.stringify({ ...line, chain })}\n`)
  }
  const taken = stop()
  rmSync(file)
  return taken
}

function taskOf({ environment: { name, version } }: World, { params, seed }: PlayedLine) {
  return { environment: { name, version }, params: params as JsonObject, seed }
}

async function open(cleanUp: AsyncDisposableStack, name: string, transport: Transport): Promise<Played> {
  const world = await loadWorld(name)
  if (transport === 'in process') {
    const host = cleanUp.use(createHost({ environments: [world.environment] }))
    return { world, connection: cleanUp.use(await connect(inProcess(host))), target: [], server: null }
  }
  const server = cleanUp.use(
    startProcess(process.execPath, [CLI, 'serve', name, '--port', '0', '--log-level', 'warn', '--json'], {
      env: { EPISODIC_CONTROL_TOKEN: TOKEN, EPISODIC_HOME: join(folder, 'home') },
    }),
  )
  const { trainerUrl } = JSON.parse(await server.line()) as { trainerUrl: string }
  const url = transport === 'HTTP' ? trainerUrl : trainerUrl.replace(/^http/, 'ws')
  const connection = cleanUp.use(await connect({ url, token: TOKEN }))
  // A run would choose the fastest transport that the server has.
  const target = ['--url', url, '--token', TOKEN, '--transport', transport.toLowerCase()]
  return { world, connection, target, server: server.pid }
}

/** Measures one world over one transport, in turn. */
async function measure(name: Name, transport: Transport) {
  await using cleanUp = new AsyncDisposableStack()
  const played = await open(cleanUp, name, transport)
  const measured: { run: Taken; steps: Taken; episodes: Taken; record: Taken; before: number; after: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const { out, played: taken, before, after } = await run(played)
    const lines: PlayedLine[] = []
    for await (const line of readSealed(join(out, 'episodes.jsonl'))) lines.push(line as PlayedLine)
    rmSync(out, { recursive: true })
    const steps = await playSteps(played, lines)
    const episodes = await playEpisodes(played, lines)
    const record = { ...writeRecord(lines), steps: steps.steps }
    const one = { run: { ...taken, steps: steps.steps }, steps, episodes, record, before, after }
    const [ran, alone, whole, kept] = [one.run, steps, episodes, record].map((each) =>
      (each.cpu / each.steps).toFixed(1),
    )
    console.error(
      `  ${round === 0 ? 'warm-up' : `round ${round}`}  ${name}, ${transport}: ${ran} µs of CPU a step, steps alone ${alone}, whole episodes ${whole}, a bare record ${kept}`,
    )
    if (round > 0) measured.push(one)
  }
  const microseconds = (of: 'run' | 'steps' | 'episodes' | 'record') =>
    Math.round(median(measured.map((round) => round[of].cpu / round[of].steps)) * 10) / 10
  const rateTo = (of: 'steps' | 'episodes', by: 'clock' | 'cpu') =>
    round2(median(measured.map((round) => round[of][by] / round.run[by])))
  return {
    world: name,
    transport,
    stepsInEpisode: round2((measured[0]?.run.steps ?? 0) / EPISODES[name]),
    microsecondsOfCpu: {
      run: microseconds('run'),
      steps: microseconds('steps'),
      episodes: microseconds('episodes'),
      record: microseconds('record'),
    },
    toFloor: round2(median(measured.map(({ run, steps, record }) => (steps.cpu + record.cpu) / run.cpu))),
    toSteps: { byClock: rateTo('steps', 'clock'), byCpu: rateTo('steps', 'cpu') },
    toEpisodes: { byClock: rateTo('episodes', 'clock'), byCpu: rateTo('episodes', 'cpu') },
    stepsPerSecond: Math.round(median(measured.map(({ run }) => (run.steps / run.clock) * 1e6))),
    millisecondsOfCpu: {
      before: Math.round(median(measured.map(({ before }) => before))),
      after: Math.round(median(measured.map(({ after }) => after))),
    },
  }
}

try {
  const measured = []
  for (const transport of transports) for (const name of worlds) measured.push(await measure(name, transport))
  report('run', {
    ok: measured.every(({ transport, toFloor }) => toFloor >= FLOORS[transport]),
    inFlight: IN_FLIGHT,
    measured,
  })
} finally {
  rmSync(folder, { recursive: true, maxRetries: 3 })
}
