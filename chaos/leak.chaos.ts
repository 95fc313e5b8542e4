/** Secrets do not leak: compares pairs of episodes, searches every endpoint for canaries, and finds planted leaks. */
import { fileURLToPath } from 'node:url'
import { type CheckReport, checkWorld, loadWorld } from '@episodic/harness'
import { PLANTED_LEAKS } from './leaks/planted-leaks.ts'
import { runTrial } from './trial.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WORLDS = ['number-guessing', 'frozen-lake', 'warehouse']
/** Pairs of episodes with which a planted leak is searched for. */
const PLANTED_PAIRS = 400

await runTrial('leak', { pairs: '1000' }, async ({ rng, quick, options }) => {
  const pairs = quick ? 100 : Number(options.pairs)
  const breaches: string[] = []
  const counts = { pairs: 0, endpointPairs: 0, steps: 0, answers: 0, bytes: 0, differing: 0, found: 0 }
  for (const name of WORLDS) {
    const world = await loadWorld(name, ROOT)
    const report = await checkWorld(world, {
      pairs,
      seed: `${rng.int(0, 1_000_000)}`,
      only: ['non-interference', 'canaries', 'hygiene'],
    })
    breaches.push(...findingsOf(report))
    const pair = figuresOf(report, 'non-interference')
    const sweep = figuresOf(report, 'canaries')
    counts.pairs += pair('pairs')
    counts.endpointPairs += pair('endpointPairs')
    counts.steps += pair('steps')
    counts.differing += pair('differing')
    counts.answers += pair('endpointMessages') + sweep('messages')
    counts.bytes += sweep('bytes')
    counts.found += sweep('found')
  }
  let caught = 0
  for (const { channel, environment, endpoints, caughtBy } of PLANTED_LEAKS) {
    const report = await checkWorld({ environment }, { pairs: PLANTED_PAIRS, endpoints, only: [caughtBy] })
    if (report.ok) breaches.push(`A leak was planted and not caught: ${channel}.`)
    else caught += 1
  }
  return { breaches, figures: { worlds: WORLDS.length, ...counts, planted: PLANTED_LEAKS.length, caught } }
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
