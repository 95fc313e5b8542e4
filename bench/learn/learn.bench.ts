/**
 * Learning curves of `examples/training`: each world and algorithm with five seeds, evaluated on held-out seeds, beside
 * random play, the solver and the optimum.
 *
 *   pnpm bench learn --worlds frozen-lake,taxi --out curves     keeps the points as lines, and draws its curves
 *   pnpm bench learn --worlds frozen-lake --episodes 640 --seeds 2     shorter, and without a claim
 *
 *   --worlds <names>      with commas between them. Default: all
 *   --seeds <number>      how many of the seeds, from the first one, at least 2. Default: all
 *   --episodes <number>   of a training. Default: those of the hyperparameters
 *   --out <folder>        keeps points and references in train-curves.jsonl and train-curves.json, and draws
 *                         train-curves.svg. Those of other worlds that are kept there stay
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
import { report, round2 } from '../figures.ts'
import { namesOf, readOptions, rejectOption, wholeNumber } from '../options.ts'

const ALL = Object.keys(WORLDS) as WorldName[]
const options = readOptions({
  worlds: { type: 'string', default: ALL.join() },
  seeds: { type: 'string', default: String(SEEDS.length) },
  episodes: { type: 'string' },
  out: { type: 'string' },
})
const worlds = namesOf('worlds', options.worlds, ALL)
const seeds = SEEDS.slice(0, wholeNumber('seeds', options.seeds, 2, SEEDS.length))
const episodes = options.episodes === undefined ? null : wholeNumber('episodes', options.episodes)
if (options.out !== undefined) openFolder(options.out)

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
    const settings = { ...HYPERPARAMETERS[world][algorithm], ...(episodes !== null && { episodes }) }
    const trainings = []
    for (const seed of seeds) {
      const training = await runTraining({ connection, world: WORLDS[world], settings, seed, evaluated: EVALUATED })
      trainings.push(training)
      points.push(...training.points.map((point) => ({ world, algorithm, seed, ...point })))
      console.error(`  ${world} ${algorithm} seed ${seed}: ${training.points.at(-1)?.return.toFixed(3)}`)
    }
    const final = estimateOf(trainings.map((training) => training.points.at(-1)?.return ?? Number.NaN))
    const successes = trainings.map((training) => training.points.at(-1)?.success ?? null)
    const ratio = (final.mean - random) / (optimum - random)
    if (world === 'frozen-lake' && algorithm === 'ppo' && episodes === null) ok = ratio >= LEAST
    learned[algorithm] = {
      return: rounded(final),
      // A game has no success.
      ...(successes.every((success) => success !== null) && { success: rounded(estimateOf(successes)) }),
      // 0 is random play, 1 the optimum.
      ratio: round2(ratio),
      episodes: points.at(-1)?.episodes,
      steps: sum(trainings.map(({ steps }) => steps)),
      seconds: Math.round(sum(trainings.map(({ seconds }) => seconds))),
      environmentShare: round2(
        sum(trainings.map((training) => training.seconds * training.environmentShare)) /
          sum(trainings.map(({ seconds }) => seconds)),
      ),
      parameters: Object.fromEntries(trainings.map(({ parameters }, at) => [seeds[at], parameters])),
    }
  }
  found[world] = { ...rounded(references), ...learned }
  if (options.out !== undefined) await keep(options.out, world, points, references)
}

report('learn', { ok, seeds: seeds.length, worlds: found })
await connection.close()
process.exit()

/**
 * Keeps a world's points, one a line, and its references, in the place of those from before, and draws all that are
 * kept.
 */
async function keep(
  folder: string,
  world: WorldName,
  points: readonly CurvePoint[],
  references: ReferenceLines,
): Promise<void> {
  const file = (end: string) => join(folder, `train-curves.${end}`)
  const lines = existsSync(file('jsonl')) ? readFileSync(file('jsonl'), 'utf8').trimEnd().split('\n') : []
  const kept = [...lines.map((line) => JSON.parse(line) as CurvePoint).filter((one) => one.world !== world), ...points]
  const ofWorlds: Partial<Record<WorldName, ReferenceLines>> = {
    ...(existsSync(file('json')) && JSON.parse(readFileSync(file('json'), 'utf8'))),
    [world]: references,
  }
  const names = Object.keys(WORLDS)
  kept.sort((one, other) => names.indexOf(one.world) - names.indexOf(other.world))
  writeFileSync(file('jsonl'), kept.map((point) => `${JSON.stringify(point)}\n`).join(''))
  writeFileSync(file('json'), `${JSON.stringify(ofWorlds, null, 2)}\n`)
  writeFileSync(file('svg'), await drawCurves(kept, ofWorlds))
}

function rounded<Figures extends object>(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [name, Math.round(figure * 10_000) / 10_000]),
  ) as Figures
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function openFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (cause) {
    rejectOption(`--out cannot be written: ${(cause as Error).message}.`)
  }
}
