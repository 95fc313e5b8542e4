/**
 * Two short experiments with a tabular policy, each with five seeds that were fixed beforehand.
 *
 *   node src/ablations.ts curricula     episodes until all tasks are learned: adaptive beside uniform draws
 *   node src/ablations.ts credit        episodes and steps to a target: returns, forks, groups, trees, shared states
 *
 * A line of JSON for each training, and then the means with their 95 % intervals. `--out <folder>` keeps the lines in
 * `train-curricula.jsonl` or `train-credit.jsonl`, and draws the picture of the same name.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { environment as frozenLake } from '@episodic/classics/frozen-lake'
import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { ABLATIONS, type AblationResult, drawAblation } from './figures/ablation-figure.ts'
import { estimateOf } from './figures/estimate.ts'
import { SEEDS } from './hyperparameters.ts'
import { type Drawing, learnTasks } from './tabular/learn-tasks.ts'
import { type Credit, learnWithCredit } from './tabular/learn-with-credit.ts'
import { hallway } from './worlds/hallway.ts'

type Experiment = keyof typeof ABLATIONS

/** Trains once with what is named, and with a seed. */
const TRAIN: Readonly<
  Record<Experiment, (connection: Connection, named: string, seed: string) => Promise<AblationResult>>
> = {
  curricula: async (connection, drawing, seed) => ({
    ...(await learnTasks(connection, { drawing: drawing as Drawing, seed })),
  }),
  credit: async (connection, credit, seed) => ({
    ...(await learnWithCredit(connection, { credit: credit as Credit, seed })),
  }),
}

const { experiment, out } = readArguments()
const { names, figures } = ABLATIONS[experiment]
await using host = createHost({ environments: [hallway, frozenLake], bounds: { sessions: 4_096 } })
await using connection = await connect(inProcess(host))
const results: AblationResult[] = []
for (const name of Object.keys(names)) {
  const own: AblationResult[] = []
  for (const seed of SEEDS) {
    const result = await TRAIN[experiment](connection, name, seed)
    own.push(result)
    process.stdout.write(`${JSON.stringify(result)}\n`)
  }
  process.stdout.write(`${name}: ${meansOf(own)}\n`)
  results.push(...own)
}
if (out !== undefined) {
  const lines = results.map((result) => `${JSON.stringify(result)}\n`).join('')
  await writeFile(join(out, `train-${experiment}.jsonl`), lines)
  await writeFile(join(out, `train-${experiment}.svg`), await drawAblation(ABLATIONS[experiment], results))
}

/** Says the means. A training that missed the target is in none of them, and is counted. */
function meansOf(own: readonly AblationResult[]): string {
  const reached = own.filter(({ episodes }) => episodes !== null)
  const fields = [...new Set(figures.flatMap((figure) => figure.fields as readonly string[]))]
  const means = fields.map((field) => {
    if (reached.length < 2) return `${field} –`
    const { mean, low, high } = estimateOf(reached.map((result) => Number(result[field])))
    return `${field} ${Math.round(mean)} (${Math.round(low)} to ${Math.round(high)})`
  })
  return `${means.join(', ')}; ${reached.length} of ${own.length} reached the target`
}

function readArguments(): { experiment: Experiment; out: string | undefined } {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: { type: 'string' } } })
    const [experiment = ''] = positionals
    if (positionals.length !== 1 || !Object.hasOwn(ABLATIONS, experiment))
      throw new Error(`Name one experiment: ${Object.keys(ABLATIONS).join(' or ')}.`)
    return { experiment: experiment as Experiment, out: values.out }
  } catch (cause) {
    process.stderr.write(`${(cause as Error).message}\n`)
    process.exit(2)
  }
}
