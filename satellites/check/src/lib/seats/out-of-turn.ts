import { inProcess } from '@episodic/mcp-server'
import { type Action, META, type OpenResult, type Rng } from '@episodic/protocol'
import { written } from '../deal.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { randomAction } from '../noisy-policy.ts'
import { formatStart, type RehearsedEpisode } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { openGame, type ServedGame, serveGame, stepGame } from '../served-game.ts'

/** Most moves of an episode during which others try to move. */
const MOVES = 24

/**
 * Lets every seat that is not in turn move before each step, by every route: its session URL, its seat handle, the
 * opener's session, and the seat handle of a seat in turn. Nothing may change: no state, no count of steps, no step
 * log, no reward.
 */
export async function findCheatedTurns(
  episode: RehearsedEpisode,
  rng: Rng,
): Promise<{ readonly calls: number; readonly findings: readonly Finding[] }> {
  const findings: Finding[] = []
  let calls = 0
  await using host = serveGame(episode)
  const game = await openGame(host, episode)
  const seats = Object.keys(game.opened.seats)
  for (const [at, move] of episode.steps.slice(0, MOVES).entries()) {
    const { turn } = await game.control.turn({ seat: move.seat, wait: 0 })
    for (const seat of seats.filter((name) => !turn.includes(name))) {
      const action = randomAction(toolsOfSeat(episode.environment, seat), rng)
      for (const [route, call] of Object.entries(routesTo(game, seat, turn, action))) {
        const before = await readSituation(game, seats)
        // Most routes reject it. What counts is that nothing has changed.
        await call().catch(() => {})
        calls += 1
        const difference = findTextDifference(before, await readSituation(game, seats))
        if (difference)
          findings.push({
            name: `turn-cheated:${route}`,
            what: `A call of ${seat} out of turn, by ${route}, changed something.`,
            again: `${formatStart(episode)}, after ${at} steps, ${JSON.stringify(action)}`,
            advice:
              'The server rejects a call out of turn before it is a step. Check the code between the endpoint and the host.',
            difference,
          })
      }
    }
    await stepGame(game, move).catch(() => {})
  }
  return { calls, findings }
}

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
