/**
 * Secrets do not leak, neither to a player nor from seat to seat: compares pairs of episodes, by the rules and at every
 * endpoint, and searches all answers for canaries. That leaks are found is tested in
 * `leaks/planted-leaks.system.test.ts`.
 */
import { fileURLToPath } from 'node:url'
import { type CheckReport, checkWorld, loadWorld } from '@episodic/harness'
import { createCardTable } from '../leaks/card-table-world.ts'
import { findEndpointLeaks } from '../leaks/endpoint-leaks.ts'
import { runTrial } from '../trial.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const WORLDS = ['number-guessing', 'frozen-lake', 'warehouse']

await runTrial('leak', { pairs: '1000' }, async ({ rng, quick, options }) => {
  const pairs = quick ? 100 : Number(options.pairs)
  const breaches: string[] = []
  const counts = { pairs: 0, endpointPairs: 0, steps: 0, answers: 0, bytes: 0, differing: 0, found: 0 }
  for (const name of WORLDS) {
    const world = await loadWorld(name, ROOT)
    const seed = `${rng.int(0, 1_000_000)}`
    const served = await findEndpointLeaks(world, { pairs, seed })
    const report = await checkWorld(world, {
      pairs,
      seed,
      only: ['non-interference', 'canaries', 'hygiene'],
    })
    breaches.push(...findingsOf(report), ...served.leaks.map(({ what, again }) => `${name}: ${what} (${again})`))
    const pair = figuresOf(report, 'non-interference')
    const sweep = figuresOf(report, 'canaries')
    counts.pairs += pair('pairs')
    counts.endpointPairs += served.pairs
    counts.steps += pair('steps')
    counts.differing += pair('differing')
    counts.answers += served.answers + sweep('answers')
    counts.bytes += served.bytes + sweep('bytes')
    counts.found += served.leaks.length + sweep('found')
  }
  const seats = { pairs: 0, endpointPairs: 0, steps: 0, answers: 0, bytes: 0, differing: 0, forks: 0 }
  const games = [await loadWorld('@episodic/classics/kuhn-poker', ROOT), { environment: createCardTable() }]
  for (const game of games) {
    const seed = `${rng.int(0, 1_000_000)}`
    const served = await findEndpointLeaks(game, { pairs, seed })
    const report = await checkWorld(game, {
      pairs,
      seed,
      only: ['non-interference', 'canaries', 'seats', 'hygiene'],
    })
    const { name } = game.environment
    breaches.push(...findingsOf(report), ...served.leaks.map(({ what, again }) => `${name}: ${what} (${again})`))
    const pair = figuresOf(report, 'non-interference')
    const sweep = figuresOf(report, 'canaries')
    const rules = figuresOf(report, 'seats')
    seats.pairs += pair('pairs')
    seats.endpointPairs += served.pairs
    seats.steps += pair('steps')
    seats.differing += pair('differing')
    seats.answers += served.answers + sweep('answers')
    seats.bytes += served.bytes + sweep('bytes')
    seats.forks += rules('forks')
  }
  return {
    breaches,
    figures: { worlds: WORLDS.length, ...counts, seats: { games: games.length, ...seats } },
  }
})

function findingsOf({ world, checks }: CheckReport): string[] {
  return checks.flatMap(({ name, findings }) =>
    findings.map(({ what, again }) => `${world.name}, ${name}: ${what} (${again})`),
  )
}

/** Reads the figures of one check; what it did not count is 0. */
function figuresOf({ checks }: CheckReport, check: string): (name: string) => number {
  const figures = checks.find(({ name }) => name === check)?.figures ?? {}
  return (name) => (typeof figures[name] === 'number' ? (figures[name] as number) : 0)
}
