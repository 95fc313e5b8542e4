/**
 * Trains one network in one world, prints its curve, and draws it if asked to.
 *
 *   node src/train.ts frozen-lake --algorithm ppo --seed 1 --figure curve.svg
 *   node src/train.ts taxi --algorithm reinforce --episodes 2000 --json
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { drawCurves } from './figure.ts'
import { HYPERPARAMETERS } from './hyperparameters.ts'
import { referenceLines } from './reference-lines.ts'
import { runTraining } from './run-training.ts'
import { WORLDS } from './worlds.ts'

/** Held-out episodes of each point, and of the solver. */
const EVALUATED = 200

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    algorithm: { type: 'string', default: 'ppo' },
    seed: { type: 'string', default: '1' },
    episodes: { type: 'string' },
    figure: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const [world = ''] = positionals
if (!isKey(WORLDS, world)) fail(`There is no world "${world}". There is: ${Object.keys(WORLDS).join(', ')}.`)
const { algorithm, seed } = options
const algorithms = HYPERPARAMETERS[world]
if (!isKey(algorithms, algorithm))
  fail(`There is no algorithm "${algorithm}". There is: ${Object.keys(algorithms).join(', ')}.`)
const episodes = options.episodes === undefined ? undefined : Number(options.episodes)
if (episodes !== undefined && !(Number.isSafeInteger(episodes) && episodes > 0))
  fail(`--episodes is ${options.episodes}, and has to be a whole number above 0.`)

await using host = createHost({ environments: [WORLDS[world].environment] })
await using connection = await connect(inProcess(host))
const { points, ...result } = await runTraining({
  connection,
  world,
  algorithm,
  seed,
  episodes,
  evaluated: EVALUATED,
  onPoint: (point) => {
    if (options.json) return console.log(JSON.stringify(point))
    const success = point.success === null ? '' : `  success ${(100 * point.success).toFixed(1)} %`
    console.log(`${String(point.episodes).padStart(7)} episodes  return ${point.return.toFixed(3)}${success}`)
  },
})
if (options.json) console.log(JSON.stringify({ world, algorithm, seed, ...result }))
else
  console.log(
    `${result.steps.toLocaleString('en')} steps in ${result.seconds.toFixed(1)} s; SHA-256 of the parameters: ${result.parameters}`,
  )
if (options.figure !== undefined) {
  const svg = await drawCurves(points, { [world]: await referenceLines(connection, world, EVALUATED) })
  writeFileSync(options.figure, svg)
  if (!options.json) console.log(`The curve, beside random play, the solver and the optimum: ${options.figure}`)
}

function isKey<Table extends object>(table: Table, key: string): key is keyof Table & string {
  return Object.hasOwn(table, key)
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
