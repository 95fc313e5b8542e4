/**
 * Two short experiments with a tabular policy, each with five seeds that were fixed beforehand.
 *
 *   node src/ablations.ts curricula     episodes until all tasks are learned: adaptive beside uniform draws
 *   node src/ablations.ts credit        episodes and steps to a target: advantages from forks beside plain returns
 *
 * A line of JSON for each training, and then the means with their 95 % intervals.
 */
import { environment as frozenLake } from '@episodic/classics/frozen-lake'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { estimateOf } from './figure.ts'
import { hallway } from './hallway.ts'
import { SEEDS } from './hyperparameters.ts'
import { learnTasks } from './learn-tasks.ts'
import { learnWithCredit } from './learn-with-credit.ts'

const [experiment] = process.argv.slice(2)
await using host = createHost({ environments: [hallway, frozenLake], bounds: { sessions: 4_096 } })
await using connection = await connect(inProcess(host))
if (experiment === 'curricula')
  for (const drawing of ['uniform', 'adaptive'] as const)
    await play(drawing, ['episodes', 'steps'], (seed) => learnTasks(connection, { drawing, seed }))
else if (experiment === 'credit')
  for (const credit of ['returns', 'forks'] as const)
    await play(credit, ['episodes', 'steps', 'forkedSteps'], (seed) => learnWithCredit(connection, { credit, seed }))
else {
  process.stderr.write('Name an experiment: curricula or credit.\n')
  process.exitCode = 2
}

/** Trains with each seed, and writes the results. A training that missed the target is in no mean, and is counted. */
async function play<Result extends { readonly episodes: number | null }>(
  name: string,
  figures: readonly (keyof Result & string)[],
  train: (seed: string) => Promise<Result>,
): Promise<void> {
  const results: Result[] = []
  for (const seed of SEEDS) {
    const result = await train(seed)
    results.push(result)
    process.stdout.write(`${JSON.stringify(result)}\n`)
  }
  const reached = results.filter(({ episodes }) => episodes !== null)
  const means = figures.map((figure) => {
    if (reached.length < 2) return `${figure} –`
    const { mean, low, high } = estimateOf(reached.map((result) => Number(result[figure])))
    return `${figure} ${Math.round(mean)} (${Math.round(low)} to ${Math.round(high)})`
  })
  process.stdout.write(`${name}: ${means.join(', ')}; ${reached.length} of ${results.length} reached the target\n`)
}
