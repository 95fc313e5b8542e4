/**
 * Learning curves of `examples/training`: each world and algorithm with five seeds, evaluated on held-out seeds, beside random play, the
 * solver and the optimum.
 *
 *   pnpm bench learn --worlds frozen-lake,taxi --out curves     keeps the points as lines, and draws all curves of the folder
 *   pnpm bench learn --worlds frozen-lake --episodes 640 --seeds 2     shorter, and without a claim
 *   pnpm bench learn --worlds none --time     where the time of a learner goes: its network, its client and the server
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import {
  type AlgorithmName,
  type CurvePoint,
  drawCurves,
  estimateOf,
  HYPERPARAMETERS,
  type ReferenceLines,
  referenceLines,
  runTraining,
  SEEDS,
  WORLDS,
  type WorldName,
} from '@episodic-example/training'
import { report, round2 } from './figures.ts'
import { measureLearnerTime } from './learner-time.ts'

const { values: options } = parseArgs({
  options: {
    worlds: { type: 'string', default: Object.keys(WORLDS).join(',') },
    seeds: { type: 'string', default: String(SEEDS.length) },
    episodes: { type: 'string' },
    out: { type: 'string' },
    time: { type: 'boolean', default: false },
    json: { type: 'boolean' },
  },
})
const worlds = options.worlds.split(',').filter((name) => Object.hasOwn(WORLDS, name)) as WorldName[]
const seeds = SEEDS.slice(0, Number(options.seeds))
const episodes = options.episodes === undefined ? undefined : Number(options.episodes)
/** Units of the hidden layer with which the learner's time is measured. The first is that of the curves. */
const WIDTHS = [32, 256] as const
/** Held-out episodes of each point. */
const EVALUATED = 200
/** The share of the way from random play to the optimum that has to be learned in slippery FrozenLake, by PPO. */
const LEAST = 0.9

const host = createHost({ environments: Object.values(WORLDS).map(({ environment }) => environment) })
const connection = await connect(inProcess(host))

const found: Record<string, unknown> = {}
let ok = true
for (const world of worlds) {
  const references = await referenceLines(connection, world, EVALUATED)
  const { random, optimum } = references
  const points: CurvePoint[] = []
  const learned: Record<string, unknown> = {}
  for (const algorithm of Object.keys(HYPERPARAMETERS[world]) as AlgorithmName[]) {
    const trainings = []
    for (const seed of seeds) {
      const training = await runTraining({ connection, world, algorithm, seed, episodes, evaluated: EVALUATED })
      trainings.push(training)
      points.push(...training.points)
      console.error(`  ${world} ${algorithm} seed ${seed}: ${training.points.at(-1)?.return.toFixed(3)}`)
    }
    const final = estimateOf(trainings.map((training) => training.points.at(-1)?.return ?? Number.NaN))
    const ratio = (final.mean - random) / (optimum - random)
    if (world === 'frozen-lake' && algorithm === 'ppo' && episodes === undefined) ok = ratio >= LEAST
    learned[algorithm] = {
      return: rounded(final),
      // 0 is random play, 1 the optimum.
      ratio: round2(ratio),
      episodes: points.at(-1)?.episodes,
      steps: sum(trainings.map(({ steps }) => steps)),
      seconds: Math.round(sum(trainings.map(({ seconds }) => seconds))),
      environmentShare: round2(
        sum(trainings.map((training) => training.seconds * training.environmentShare)) /
          sum(trainings.map(({ seconds }) => seconds)),
      ),
      parameters: Object.fromEntries(trainings.map(({ parameters }, at) => [seeds[at], parameters.slice(0, 16)])),
    }
  }
  found[world] = { ...rounded(references), ...learned }
  if (options.out !== undefined) keep(options.out, world, points, references)
}
if (options.out !== undefined) writeFileSync(join(options.out, 'curves.svg'), await drawAll(options.out))

const time: Record<string, unknown> = {}
if (options.time)
  for (const algorithm of Object.keys(HYPERPARAMETERS['frozen-lake']) as AlgorithmName[])
    for (const hidden of WIDTHS) {
      const name = `${algorithm}, ${hidden} units`
      time[name] = await measureLearnerTime(algorithm, { hidden })
      console.error(`  ${name}: ${JSON.stringify(time[name])}`)
    }

report('learn', { ok, seeds: seeds.length, worlds: found, time })
await connection.close()
process.exit(ok ? 0 : 1)

/** Keeps a world's points, one a line, and its references. */
function keep(folder: string, world: WorldName, points: readonly CurvePoint[], references: ReferenceLines): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${world}.jsonl`), points.map((point) => `${JSON.stringify(point)}\n`).join(''))
  writeFileSync(join(folder, `${world}.json`), `${JSON.stringify(references)}\n`)
}

async function drawAll(folder: string): Promise<string> {
  const kept = (Object.keys(WORLDS) as WorldName[]).filter((world) => readdirSync(folder).includes(`${world}.jsonl`))
  const points = kept.flatMap((world) =>
    readFileSync(join(folder, `${world}.jsonl`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as CurvePoint),
  )
  const references = kept.map((world) => [world, JSON.parse(readFileSync(join(folder, `${world}.json`), 'utf8'))])
  return drawCurves(points, Object.fromEntries(references))
}

function rounded<Figures extends object>(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [name, Math.round(figure * 10_000) / 10_000]),
  ) as Figures
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
