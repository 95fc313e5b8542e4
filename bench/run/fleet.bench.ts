/**
 * A run in a fleet of one and of two workers beside `--processes 1` and `--processes 2`, on episodes of 20 steps: steps
 * a second, and CPU time for an episode of all processes together, whose difference is what the queue costs. It also
 * says how much of it the coordinator and Redis take, of which there is one each: at which rate of episodes one core of
 * theirs is busy.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { summarySchema } from '@episodic/harness'
import { LineCounter } from '../../chaos/oracles/sealed-lines.ts'
import { startRedis } from '../../chaos/processes/redis.ts'
import { type Killable, startProcess } from '../../chaos/processes/start-process.ts'
import { inTurn, median, ratio, report, round2 } from '../figures.ts'
import { needProc, needProgram } from '../needs.ts'
import { readCpu } from '../process-tree.ts'

const ROUNDS = 3
/** Most CPU time for an episode that a fleet may take, relative to `--processes`. */
const CEILING = 1.15
const EPISODES = 2_000
/** The parts of a run between which CPU time is measured: without the start of processes and the end of the run. */
const [FROM, TO] = [0.2, 0.9]
/** Milliseconds between two readings. */
const INTERVAL = 50

const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))
const WORLD = fileURLToPath(new URL('../servers/searching-world.ts', import.meta.url))

needProgram('redis-server')
needProc()
const folder = mkdtempSync(join(tmpdir(), 'episodic-fleet-'))
const episodic = (...args: string[]): Killable =>
  startProcess(process.execPath, [CLI, ...args], { cwd: folder, env: { EPISODIC_HOME: join(folder, 'home') } })

/** Milliseconds of CPU time for an episode, of each part of a measurement in each round. */
const cpu: Record<string, number[]> = {}
let runs = 0

/** Plays a run, and resolves with its steps a second. `parts` are the processes that play beside it. */
async function play(name: string, options: readonly string[], parts: Readonly<Record<string, readonly Killable[]>>) {
  const out = join(folder, `run-${runs++}`)
  const words = ['run', WORLD, '--tasks', String(EPISODES), '--max-steps', '20', '--out', out, '--json', ...options]
  await using run = episodic(...words)
  const groups = Object.entries({ run: [run], ...parts })
  const sealed = new LineCounter(join(out, 'episodes.jsonl'))
  let isOver = false
  const line = run.line().finally(() => {
    isOver = true
  })
  const readings: { episodes: number; seconds: number[] }[] = []
  while (!isOver) {
    const episodes = sealed.count()
    if (episodes >= FROM * EPISODES && episodes <= TO * EPISODES)
      readings.push({ episodes, seconds: groups.map(([, processes]) => sum(processes.map(({ pid }) => readCpu(pid)))) })
    await pause(INTERVAL)
  }
  const { counts, time } = summarySchema.parse(JSON.parse(await line))
  if (counts.finished !== EPISODES) throw new Error(`Of ${EPISODES} episodes, ${counts.finished} finished.`)
  const [first, last] = [readings[0], readings.at(-1)]
  if (!first || !last || last.episodes === first.episodes) throw new Error('The run was too short to be measured.')
  for (const [index, [part]] of groups.entries()) {
    const seconds = (last.seconds[index] as number) - (first.seconds[index] as number)
    const list = cpu[`${name} ${part}`] ?? []
    cpu[`${name} ${part}`] = [...list, (1_000 * seconds) / (last.episodes - first.episodes)]
  }
  rmSync(out, { recursive: true })
  return time.stepsPerSecond ?? 0
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

try {
  await using redis = await startRedis(join(folder, 'redis'), 'everysec')
  const playInFleet = async (name: string, count: number) => {
    await using workers = new AsyncDisposableStack()
    const started = Array.from({ length: count }, () =>
      workers.use(episodic('queue', 'work', WORLD, '--queue', redis.url, '--json')),
    )
    await Promise.all(started.map((worker) => worker.line()))
    return await play(name, ['--queue', redis.url], { workers: started, redis: [redis.process] })
  }
  const rates = await inTurn(ROUNDS, {
    'processes 1': () => play('processes 1', [], {}),
    'fleet 1': () => playInFleet('fleet 1', 1),
    'processes 2': () => play('processes 2', ['--processes', '2'], {}),
    'fleet 2': () => playInFleet('fleet 2', 2),
  })
  // The first round is not counted.
  const part = (name: string) => (cpu[name] ?? []).slice(1)
  const whole = (name: string) => {
    const parts = ['run', 'workers', 'redis'].map((of) => part(`${name} ${of}`)).filter(({ length }) => length > 0)
    return Array.from({ length: ROUNDS }, (_, round) => sum(parts.map((values) => values[round] as number)))
  }
  const of = (count: 1 | 2) => ({
    stepsPerSecond: [`processes ${count}`, `fleet ${count}`].map((name) =>
      Math.round(median(rates[name as keyof typeof rates])),
    ),
    ratio: ratio(rates[`fleet ${count}`], rates[`processes ${count}`]),
    millisecondsOfCpu: [`processes ${count}`, `fleet ${count}`].map((name) => round2(median(whole(name)))),
    cpuRatio: ratio(whole(`fleet ${count}`), whole(`processes ${count}`)),
  })
  const [one, two] = [of(1), of(2)]
  const alone = (name: string) => {
    const milliseconds = median(part(`fleet 2 ${name}`))
    return { millisecondsOfCpu: round2(milliseconds), episodesPerSecondOfOneCore: Math.round(1_000 / milliseconds) }
  }
  report('fleet', {
    ok: one.cpuRatio <= CEILING && two.cpuRatio <= CEILING,
    episodes: EPISODES,
    one,
    two,
    saturation: { coordinator: alone('run'), redis: alone('redis') },
  })
} finally {
  rmSync(folder, { recursive: true, maxRetries: 3 })
}
