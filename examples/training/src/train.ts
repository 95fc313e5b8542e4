/**
 * Trains one network in one world, and prints its curve.
 *
 *   node src/train.ts frozen-lake --algorithm ppo --seed 1
 *   node src/train.ts taxi --algorithm reinforce --episodes 2000 --json
 */
import { parseArgs } from 'node:util'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { HYPERPARAMETERS } from './hyperparameters.ts'
import { runTraining } from './run-training.ts'
import { WORLDS } from './worlds.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    algorithm: { type: 'string', default: 'ppo' },
    seed: { type: 'string', default: '1' },
    episodes: { type: 'string' },
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

function isKey<Table extends object>(table: Table, key: string): key is keyof Table & string {
  return Object.hasOwn(table, key)
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
