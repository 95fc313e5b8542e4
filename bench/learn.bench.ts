/**
 * Learning curves of `examples/training`: each world and algorithm with five seeds, evaluated on held-out seeds, beside random play, the
 * solver and the optimum; then the share of time that a training over HTTP spends waiting for the environment.
 *
 *   pnpm bench learn --worlds frozen-lake,taxi --out curves     keeps the points as lines, and draws all curves of the folder
 *   pnpm bench learn --worlds frozen-lake --episodes 640 --seeds 2     shorter, and without a claim
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
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

const { values: options } = parseArgs({
  options: {
    worlds: { type: 'string', default: Object.keys(WORLDS).join(',') },
    seeds: { type: 'string', default: String(SEEDS.length) },
    episodes: { type: 'string' },
    out: { type: 'string' },
    json: { type: 'boolean' },
  },
})
const worlds = options.worlds.split(',') as WorldName[]
const seeds = SEEDS.slice(0, Number(options.seeds))
const episodes = options.episodes === undefined ? undefined : Number(options.episodes)
/** Held-out episodes of each point. */
const EVALUATED = 200
/** The share of the way from random play to the optimum that has to be learned in slippery FrozenLake, by PPO. */
const LEAST = 0.9

const host = createHost({ environments: worlds.map((world) => WORLDS[world].environment) })
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

report('learn', { ok, seeds: seeds.length, worlds: found, http: await measureHttp() })
await connection.close()
process.exit(ok ? 0 : 1)

/** Trains over HTTP, on a server in this process, so that what it computes is time of the environment too. */
async function measureHttp() {
  const [world] = worlds as [WorldName]
  await using server = await serveHttp(createHost({ environments: [WORLDS[world].environment] }))
  await using remote = await connect({ url: server.trainerUrl, token: server.controlToken })
  const shares: Record<string, number> = {}
  for (const algorithm of Object.keys(HYPERPARAMETERS[world]) as AlgorithmName[]) {
    const options = { connection: remote, world, algorithm, seed: '1', points: 1, evaluated: 1 }
    shares[algorithm] = round2((await runTraining({ ...options, episodes: 640 })).environmentShare)
  }
  return { world, environmentShare: shares }
}

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
