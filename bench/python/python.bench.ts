/**
 * Steps a second of the Python package `episodic_env`, and the CPU of a step, client and server together, beside
 * OpenEnv's client on OpenEnv's server: episodes of number-guessing of 29 steps, opened, played and closed, one after
 * the other and 16 at once. All are measured in turn, round after round.
 *
 * Makes the Python environment of OpenEnv, of 450 MB.
 */
import { fileURLToPath } from 'node:url'
import { type Killable, startProcess } from '../../chaos/processes/start-process.ts'
import { median, ratio, report } from '../figures.ts'
import { needProc, needPython } from '../needs.ts'
import { readCpu } from '../process-tree.ts'
import { startOurs, startPython, TOKEN } from './start-server.ts'

const ROUNDS = 9
const SECONDS = 1.5
const AT_ONCE = [1, 16]
const THEIRS = 'OpenEnv'
/** How many times the steps a second of OpenEnv each has to play. None may take more CPU for a step. */
const FLOORS: Readonly<Record<string, number>> = {
  'HTTP, 1': 1,
  'HTTP, 16': 1,
  'WebSocket, 1': 2,
  'WebSocket, 16': 1,
  'asyncio, 1': 2,
  'step_all, 16': 2,
}

/** A client, and the process of the server that it plays on. */
interface Contender {
  readonly name: string
  readonly client: Killable
  readonly server: number
}

interface Round {
  readonly rate: number
  /** Microseconds of a step. */
  readonly cpu: number
}

const say = (text: string) => console.error(`  ${text}`)
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
needProc()
const python = needPython('openenv.txt')

await using processes = new AsyncDisposableStack()
const openEnv = processes.use(
  await startPython(python, (port) => [
    ...['-m', 'uvicorn', 'openenv_environment:app'],
    ...['--host', '127.0.0.1', '--port', port, '--log-level', 'warning'],
  ]),
)
const ours = processes.use(await startOurs())

function start(program: string, url: string, ...args: readonly string[]): Killable {
  const env = { PYTHONPATH: pathOf('../../clients/python/src') }
  return processes.use(startProcess(python, [pathOf(`${program}.py`), url, TOKEN, ...args], { env }))
}

function our(name: string, program: string, scheme: 'http' | 'ws', ...args: readonly string[]): Contender {
  return { name, client: start(program, `${scheme}://127.0.0.1:${ours.port}/env`, ...args), server: ours.pid }
}

const contenders: readonly Contender[] = [
  { name: THEIRS, client: start('openenv_player', `http://127.0.0.1:${openEnv.port}`), server: openEnv.pid },
  our('HTTP', 'episodic_player', 'http'),
  our('WebSocket', 'episodic_player', 'ws'),
  our('asyncio', 'asyncio_player', 'ws', 'tasks'),
  our('step_all', 'asyncio_player', 'ws', 'together'),
]

async function measure({ client, server }: Contender, atOnce: number): Promise<Round> {
  client.write(JSON.stringify({ at_once: atOnce, seconds: SECONDS }))
  await client.line()
  const before = readCpu(client.pid) + readCpu(server)
  const began = performance.now()
  const steps = Number(await client.line())
  const rate = (steps * 1_000) / (performance.now() - began)
  return { rate, cpu: ((readCpu(client.pid) + readCpu(server) - before) * 1e6) / steps }
}

const rounds: Record<string, Round[]> = {}
for (let round = 0; round <= ROUNDS; round++)
  for (const atOnce of AT_ONCE)
    for (const contender of contenders) {
      const row = `${contender.name}, ${atOnce}`
      const one = await measure(contender, atOnce)
      const shown = `${Math.round(one.rate)} steps/s, ${Math.round(one.cpu)} µs of CPU`
      say(`${round === 0 ? 'warm-up' : `round ${round}`}  ${row.padEnd(14)} ${shown}`)
      // The first steps of a server are those of code that is not compiled yet.
      if (round > 0) rounds[row] = [...(rounds[row] ?? []), one]
    }

const rows = Object.entries(rounds).map(([row, own]) => {
  const theirs = rounds[`${THEIRS}, ${row.split(', ')[1]}`] as Round[]
  const of = (measured: readonly Round[], key: keyof Round) => measured.map((round) => round[key])
  return {
    row,
    stepsPerSecond: Math.round(median(of(own, 'rate'))),
    microsecondsPerStep: Math.round(median(of(own, 'cpu'))),
    rateRatio: ratio(of(own, 'rate'), of(theirs, 'rate')),
    cpuRatio: ratio(of(own, 'cpu'), of(theirs, 'cpu')),
  }
})
for (const row of rows) say(JSON.stringify(row))
const missed = rows.filter(({ row, rateRatio, cpuRatio }) => rateRatio < (FLOORS[row] ?? 0) || cpuRatio > 1)
report('python', { ok: missed.length === 0, missed: missed.map(({ row }) => row), rows })
