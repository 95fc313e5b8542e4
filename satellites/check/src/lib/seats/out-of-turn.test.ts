import { environment as kuhnPoker } from '@episodic/classics/kuhn-poker'
import { randomPolicy } from '@episodic/env'
import { inProcess } from '@episodic/mcp-server'
import { type Action, createRng, META, type OpenResult, type Rng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { type Setting, settingsOf } from '../check-context.ts'
import { written } from '../deal.ts'
import { findTextDifference } from '../finding.ts'
import { randomAction } from '../noisy-policy.ts'
import { type RehearsedEpisode, rehearseEpisode } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { openGame, type ServedGame, serveGame, stepGame } from '../served-game.fixture.ts'
import { createAuction } from './auction.fixture.ts'

/** Most moves of an episode during which others try to move. */
const MOVES = 24

/**
 * Lets every seat that is not in turn move before each step, by every route: its session URL, its seat handle, the
 * opener's session, and the seat handle of a seat in turn. Returns the routes by which something changed: a state, a
 * count of steps, the step log, a reward.
 */
async function playOutOfTurn(episode: RehearsedEpisode, rng: Rng) {
  const changed: string[] = []
  let calls = 0
  await using host = serveGame(episode)
  const game = await openGame(host, episode)
  const seats = Object.keys(game.opened.seats)
  for (const move of episode.steps.slice(0, MOVES)) {
    const { turn } = await game.control.turn({ seat: move.seat, wait: 0 })
    for (const seat of seats.filter((name) => !turn.includes(name))) {
      const action = randomAction(toolsOfSeat(episode.environment, seat), rng)
      for (const [route, call] of Object.entries(routesTo(game, seat, turn, action))) {
        const before = await readSituation(game, seats)
        // Most routes reject it. What counts is that nothing has changed.
        await call().catch(() => {})
        calls += 1
        if (findTextDifference(before, await readSituation(game, seats))) changed.push(`${seat} by ${route}`)
      }
    }
    await stepGame(game, move).catch(() => {})
  }
  return { calls, changed }
}

describe('a call out of turn', () => {
  it.each([
    ['kuhn-poker', kuhnPoker],
    ['auction', createAuction().environment],
  ])('changes nothing in %s, by any route', async (_, environment) => {
    const [setting] = settingsOf({ environment }, '0') as [Setting]
    for (const seed of ['a', 'b', 'c', 'd']) {
      const episode = await rehearseEpisode({ environment, setting, seed, policy: randomPolicy(), maxSteps: 48 })
      const { calls, changed } = await playOutOfTurn(episode, createRng(seed))
      expect([calls > 0, changed]).toEqual([true, []])
    }
  })
})

type Call = () => Promise<unknown>

function routesTo(
  { host, opened, control }: ServedGame,
  seat: string,
  turn: readonly string[],
  action: Action,
): Readonly<Record<string, Call>> {
  const { capability, handle } = opened.seats[seat] as OpenResult['seats'][string]
  const address = { by: 'capability', token: capability } as const
  const agent = inProcess(host, { endpoint: 'agent', principal: null, address })
  const trainer = inProcess(host)
  const call = { name: action.tool, arguments: action.arguments }
  const stepWith =
    (session: string | undefined, meta: object): Call =>
    async () =>
      trainer.request('tools/call', { ...call, _meta: { [META.session]: session as string, ...meta } })
  const seq = async () => (await control.state()).seats[seat]?.seq ?? 0
  const mover = turn[0] === undefined ? undefined : opened.seats[turn[0]]?.handle
  return {
    'session URL': () => agent.request('tools/call', call),
    'seat handle': async () => stepWith(handle, { [META.seq]: await seq() })(),
    'seat handle without seq': stepWith(handle, {}),
    'control handle': async () => stepWith(opened.session, { [META.seat]: seat, [META.seq]: await seq() })(),
    ...(mover && { 'seat handle of another seat': stepWith(mover, { [META.seat]: seat }) }),
  }
}

async function readSituation({ control }: ServedGame, seats: readonly string[]): Promise<string> {
  const { state, revision, seats: counts, now, end } = await control.state()
  const { steps } = await control.watch({ after: 0, limit: 1_000, wait: 0 })
  const known = await Promise.all(seats.map((seat) => control.turn({ seat, wait: 0 })))
  return JSON.stringify({ state: written(state), revision, counts, now, end, steps: steps.length, known })
}
