/**
 * Two agents that learn Kuhn poker against each other. Each is a process of its own, plays its own seat over HTTP with
 * the handle of that seat, and learns from its own views and returns alone. The figure is the exploitability of their
 * average strategies, computed on the tree of the served rules.
 *
 *   pnpm bench self-play --episodes 2000     shorter, and less exact
 */
import { environment } from '@episodic/classics/kuhn-poker'
import { gameTree } from '@episodic/classics/solve'
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { canonicalJson } from '@episodic/protocol'
import { type Child, startChild } from '../child.ts'
import { report, round2 } from '../figures.ts'
import { readOptions, wholeNumber } from '../options.ts'
import type { Deal, Question } from './player.ts'

const EPISODES = wholeNumber('episodes', readOptions({ episodes: { type: 'string', default: '150000' } }).episodes)
/** Episodes of one iteration, played at once by an unchanged strategy. */
const BATCH = 100
/**
 * Chips a hand that a best response may win of the average strategies, on average over the seats, after so many
 * episodes.
 */
const MOST = [
  [150_000, 0.01],
  [2_000, 0.1],
] as const

type Averages = Readonly<Record<string, readonly number[]>>

const tree = gameTree(environment)
const host = createHost({ environments: [environment], bounds: { sessions: 2 * BATCH } })
await using server = await serveHttp(host)
const players = Object.fromEntries(
  await Promise.all(
    environment.seats.map(async (seat) => [
      seat,
      await startChild('self-play/player.ts', server.trainerUrl, server.controlToken, seat),
    ]),
  ),
) as Record<string, Child<string>>
const ask = <Answer>(seat: string, question: Question) =>
  (players[seat] as Child<string>).ask<Answer>(JSON.stringify(question))

/** Half of NashConv of what both have learned. */
async function exploitability(): Promise<number> {
  const learned = new Map<string, Averages>()
  for (const seat of environment.seats) learned.set(seat, await ask<Averages>(seat, 'averages'))
  const profile: typeof tree.uniform = (decision) =>
    learned.get(decision.seat)?.[canonicalJson(decision.observation.structured ?? {})] ?? tree.uniform(decision)
  return tree.nashConv(profile) / 2
}

/** Deals a batch, and lets one seat learn from it. Resolves with the steps of both. */
async function playBatch(first: number, learning: string): Promise<number> {
  const opened = await Promise.all(
    Array.from({ length: BATCH }, (_, at) => {
      const key = `self-play-${first + at}`
      return host.open(null, { environment: environment.name, requestKey: key, seed: key })
    }),
  )
  const dealTo = (seat: string): Deal[] =>
    opened.map(({ seats, turn = [] }, at) => {
      const { handle = '', observation } = seats[seat] as (typeof seats)[string]
      return { game: first + at, handle, observation, isFirst: turn.includes(seat) }
    })
  const steps = await Promise.all(
    environment.seats.map((seat) => ask<number>(seat, { deals: dealTo(seat), learns: seat === learning })),
  )
  await Promise.all(
    opened.map(async ({ session }) => (await host.resolve(null, { by: 'control', token: session })).close()),
  )
  return steps.reduce((sum, one) => sum + one, 0)
}

const course: Record<string, number> = {}
const began = performance.now()
let [played, steps, next] = [0, 0, 1_000]
while (played < EPISODES) {
  const learning = environment.seats[(played / BATCH) % environment.seats.length] as string
  steps += await playBatch(played, learning)
  played += BATCH
  if (played < next && played < EPISODES) continue
  const found = await exploitability()
  course[played] = Math.round(found * 1e5) / 1e5
  console.error(`  ${played.toLocaleString('en')} episodes: exploitability ${found.toFixed(5)}`)
  next *= 2
}
const seconds = (performance.now() - began) / 1_000
for (const player of Object.values(players)) player[Symbol.dispose]()
const [, most] = MOST.find(([least]) => played >= least) ?? [0, Number.POSITIVE_INFINITY]
const ok = (course[played] as number) < most
report('self-play', {
  ok,
  episodes: played,
  exploitability: course[played],
  course,
  steps,
  seconds: Math.round(seconds),
  episodesPerSecond: round2(played / seconds),
})
