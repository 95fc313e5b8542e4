/**
 * Steps of one core through the host beside the bare rules, by CPU time: values in, values out, rewards included,
 * sessions in memory. What is between them and a step is in bench/NOTES.md, part by part.
 *
 *   --quick    fewer rounds, as in CI
 *   --record   writes the ratio to bench/recorded-ratios.json if it is better than the one there
 */
import { createHost } from '@episodic/mcp-server'
import { environment } from '@episodic-world/number-guessing'
import { cpuSeconds } from '../cpu-time.ts'
import { inTurn, median } from '../figures.ts'
import { readOptions } from '../options.ts'
import { type BesideFloor, reachesRecorded, reportRatios } from '../recorded-ratios.ts'
import { startBareEpisode } from './bare-rules.ts'

const { quick, record } = readOptions({
  quick: { type: 'boolean', default: false },
  record: { type: 'boolean', default: false },
})
const GAMES = 2_000
const ROUNDS = quick ? 7 : 15

/** Halves the range, as the hints say. Both sides play the same games. */
function createGuesser() {
  let low = 1
  let high = 100
  return {
    guess: () => Math.floor((low + high) / 2),
    hear(value: number, hint: unknown) {
      if (hint === 'higher') low = value + 1
      else high = value - 1
    },
  }
}

await using host = createHost({ environments: [environment], bounds: { sessions: 2 * GAMES } })
let games = 0

/** Opens the sessions first: what is timed is steps alone. */
async function throughHost(): Promise<number> {
  const sessions: string[] = []
  for (let game = 0; game < GAMES; game++) {
    const key = `inprocess-benchmark-${games++}`
    sessions.push((await host.open(null, { environment: environment.name, requestKey: key, seed: `${game}` })).session)
  }
  let steps = 0
  const began = cpuSeconds()
  for (const session of sessions) {
    const guesser = createGuesser()
    for (let seq = 0; ; seq++) {
      const value = guesser.guess()
      const { step } = await (await host.resolve(null, { by: 'control', token: session })).step({
        action: { tool: 'guess', arguments: { value } },
        seq,
      })
      steps += 1
      if (step.report.end) break
      guesser.hear(value, step.observation.structured?.hint)
    }
  }
  const seconds = cpuSeconds() - began
  for (const session of sessions) await (await host.resolve(null, { by: 'control', token: session })).close()
  return steps / seconds
}

function onBareRules(): number {
  let steps = 0
  const began = cpuSeconds()
  // A game of theirs takes a third of the time.
  for (let game = 0; game < 3 * GAMES; game++) {
    const play = startBareEpisode(environment, `${game % GAMES}`)
    const guesser = createGuesser()
    for (let isOver = false; !isOver; ) {
      const value = guesser.guess()
      const step = play('guess', { value })
      steps += 1
      isOver = step.isOver
      if (step.data) guesser.hear(value, (step.data as { hint: string }).hint)
    }
  }
  return steps / (cpuSeconds() - began)
}

const figures = (rates: { readonly host: readonly number[]; readonly bare: readonly number[] }) => {
  return { host: { of: rates.host, floor: rates.bare } satisfies BesideFloor }
}
const rates = await inTurn(
  ROUNDS,
  { host: throughHost, bare: onBareRules },
  {
    warmUp: 3,
    isEnough: (rates) => reachesRecorded('inprocess', figures(rates)),
  },
)
reportRatios('inprocess', figures(rates), {
  record,
  stepsPerSecond: Math.round(median(rates.host)),
  bareStepsPerSecond: Math.round(median(rates.bare)),
})
