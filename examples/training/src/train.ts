/**
 * Trains one network in one world, prints its curve, and draws it if asked to.
 *
 *   node src/train.ts frozen-lake --algorithm ppo --seed 1 --figure curve.svg
 *   node src/train.ts taxi --algorithm reinforce --episodes 2000 --json
 */
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { drawCurves } from './figures/figure.ts'
import { type AlgorithmName, HYPERPARAMETERS, type Hyperparameters, type WorldName } from './hyperparameters.ts'
import { runTraining } from './learner/run-training.ts'
import { referenceLines } from './worlds/reference-lines.ts'
import { WORLDS } from './worlds/worlds.ts'

/** Held-out episodes of each point, and of the solver. */
const EVALUATED = 200

const USAGE = `Usage: node examples/training/src/train.ts <world> [options]

  <world>               ${Object.keys(WORLDS).join(', ')}
  --algorithm <name>    ppo or reinforce; default ppo
  --seed <text>         everything that is drawn follows from it; default 1
  --episodes <number>   how long it trains; default: that of the hyperparameters
  --figure <file>       draws the curve, an SVG
  --json                prints a line of JSON for each point
  --help                prints this`

const { options, positionals } = readArguments()
if (options.help) {
  console.log(USAGE)
  process.exit(0)
}
const [name = '', ...others] = positionals
if (others.length > 0) fail(`One world is trained, and there are further words: ${others.join(' ')}.`)
if (!isKey(WORLDS, name))
  fail(
    `${name === '' ? 'No world is named' : `There is no world "${name}"`}. There is: ${Object.keys(WORLDS).join(', ')}.`,
  )
const { algorithm, seed, figure } = options
const algorithms = HYPERPARAMETERS[name]
if (!isKey(algorithms, algorithm))
  fail(`There is no algorithm "${algorithm}". There is: ${Object.keys(algorithms).join(', ')}.`)
const settings: Hyperparameters = { ...algorithms[algorithm] }
if (options.episodes !== undefined) {
  const episodes = Number(options.episodes)
  if (!(Number.isSafeInteger(episodes) && episodes > 0))
    fail(`--episodes is "${options.episodes}", and has to be a whole number above 0.`)
  Object.assign(settings, { episodes })
}
if (figure !== undefined) checkWritable(figure)

await using host = createHost({ environments: [WORLDS[name].environment] })
await using connection = await connect(inProcess(host))
const { points, ...result } = await runTraining({
  connection,
  world: WORLDS[name],
  settings,
  seed,
  evaluated: EVALUATED,
  onPoint: (point) => {
    if (options.json) return console.log(JSON.stringify(labelled(point)))
    const success = point.success === null ? '' : `  success ${(100 * point.success).toFixed(1)} %`
    console.log(`${String(point.episodes).padStart(7)} episodes  return ${point.return.toFixed(3)}${success}`)
  },
})
if (options.json) console.log(JSON.stringify(labelled(result)))
else
  console.log(
    `${result.steps.toLocaleString('en')} steps in ${result.seconds.toFixed(1)} s; SHA-256 of the parameters: ${result.parameters}`,
  )
if (figure !== undefined) {
  writeFileSync(
    figure,
    await drawCurves(points.map(labelled), { [name]: await referenceLines(connection, name, EVALUATED) }),
  )
  if (!options.json) console.log(`The curve, beside random play, the solver and the optimum: ${figure}`)
}

/** Says which training something belongs to. */
function labelled<Part extends object>(part: Part) {
  return { world: name as WorldName, algorithm: algorithm as AlgorithmName, seed, ...part }
}

function readArguments() {
  try {
    const { values: options, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        algorithm: { type: 'string', default: 'ppo' },
        seed: { type: 'string', default: '1' },
        episodes: { type: 'string' },
        figure: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    return { options, positionals }
  } catch (cause) {
    // Node's hint on words that begin with a dash, which comes after the first sentence, does not apply here.
    return fail(`${(cause as Error).message.split('. ')[0]}.`)
  }
}

/**
 * Opens the file to write at its end, which changes nothing in one that exists: after a training it is too late for a
 * typo.
 */
function checkWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a'))
  } catch (cause) {
    fail(`--figure cannot be written: ${(cause as Error).message}.`)
  }
}

function isKey<Table extends object>(table: Table, key: string): key is keyof Table & string {
  return Object.hasOwn(table, key)
}

function fail(message: string): never {
  console.error(`${message} --help says more.`)
  process.exit(2)
}
