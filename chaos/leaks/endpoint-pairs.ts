import type { CheckedWorld } from '@episodic/check/check-context'
import { settingsOf } from '@episodic/check/check-context'
import { drawDeals, seatsOfDeal } from '@episodic/check/deal'
import { type Difference, findTextDifference } from '@episodic/check/finding'
import { toolsOfSeat } from '@episodic/check/seat-players'
import { type PlannedPair, planPairs } from '@episodic/check/secrecy/dealt-pairs'
import { formatMoves, type PairedMove, playPair } from '@episodic/check/secrecy/paired-play'
import { openGame, stepGame } from '@episodic/check/served-game.fixture'
import { TimeLimit } from '@episodic/check/time-limit'
import { createHost, type EnvironmentDefinition, type Host, type TrainerSessionRef } from '@episodic/mcp-server'
import { createRng, type OpenResult, type Rng, seedFor } from '@episodic/protocol'
import type { AgentEndpoint, OpenEndpoint } from './endpoints/agent-endpoint.ts'
import { type Instrumentation, instrumentEnvironment } from './instrumented-environment.ts'
import { fieldOfOthers, handlePlayer } from './players/handle-player.ts'
import type { SeatAnswer, SeatPlayer } from './players/seat-player.ts'
import { type AgentPlayer, urlPlayer } from './players/url-player.ts'

/** What is searched: a world at endpoints, by so many pairs as its rules are, of which a share is played here. */
export interface Searched {
  readonly world: CheckedWorld
  readonly endpoints: readonly AgentEndpoint[]
  readonly pairs: number
  readonly seed: string
}

export interface Leak {
  readonly name: string
  readonly what: string
  readonly again: string
  readonly difference?: Difference
}

export interface Found {
  readonly leaks: Leak[]
  pairs: number
  answers: number
  bytes: number
}

/** Deals of each setting that form pairs. */
const DEALS = 96
/** The share of all pairs that is played by each route, at an endpoint with connections and in this process. */
const SHARE = { connected: 0.03, inProcess: 0.12 }
const MOVES = 16
/** Seconds that an answer is held at most. In a sound game no answer waits for so long. */
const HOLD = 5

export type Route = 'session URL' | 'stateless session URL' | 'seat handle'

/**
 * Returns the endpoints at which an environment can be played. In a game an answer may be held until the seat may act
 * again, and come after those to later messages, which a pipe cannot do.
 */
export function endpointsOf(
  { multiplayer }: EnvironmentDefinition,
  endpoints: readonly AgentEndpoint[],
): readonly AgentEndpoint[] {
  return multiplayer ? endpoints.filter(({ name }) => name !== 'stdio') : endpoints
}

/**
 * Returns the ways in which a seat is played at an endpoint. Without HTTP there is one kind of protocol version. Who
 * has the handle of the only seat plays as its trainer, from whom nothing is kept.
 */
export function routesAt(
  { multiplayer }: EnvironmentDefinition,
  { name }: AgentEndpoint,
  opened: OpenEndpoint,
): readonly Route[] {
  return [
    'session URL',
    ...(name === 'http' ? (['stateless session URL'] as const) : []),
    ...(multiplayer && opened.sendAsTrainer ? (['seat handle'] as const) : []),
  ]
}

/**
 * Plays pairs of real sessions at real endpoints: by the session URL, in both kinds of protocol versions, and in a game
 * by the seat handle. Other seats move by the opener's session. Everything that the player gets is compared: status
 * lines and headers, answers that are held, waits, calls out of turn, repeated steps, views, lists, notifications, and
 * all of it once more in a fork. Session ids and tokens are left out.
 */
export async function comparePairs({ world, endpoints, pairs, seed }: Searched, found: Found): Promise<void> {
  const { environment } = world
  const settings = settingsOf(world, seed)
  const deals = settings.map((setting) => drawDeals(environment, setting, seed, DEALS))
  const planner = planPairs(environment, settings, deals, seed)
  if (!planner) return
  const instrumentation: Instrumentation = { deal: null, failing: null, onReveal() {} }
  for (const endpoint of endpointsOf(environment, endpoints)) {
    await using host = createHost({
      environments: [instrumentEnvironment(environment, instrumentation)],
      bounds: { waitSeconds: HOLD },
    })
    await using opened = await endpoint.open(host)
    for (const route of routesAt(environment, endpoint, opened)) {
      const count = Math.ceil(pairs * (endpoint.name === 'in process' ? SHARE.inProcess : SHARE.connected))
      for (let i = 0; i < count; i++) {
        const draws = seedFor(seed, 'endpoint pair', endpoint.name, route, i)
        const plan = planner.plan(createRng(draws))
        if (!plan) continue
        const time = new TimeLimit()
        const { moves, pair } = await playPair({ world, time }, plan, createRng(draws).stream('play'), MOVES)
        const answers: (readonly SeatAnswer[])[] = []
        for (const which of ['first', 'second'] as const) {
          instrumentation.deal = pair[which]
          answers.push(await playSide(host, opened, { environment, planned: pair, moves, which, route, draws }))
        }
        found.pairs += 1
        found.answers += answers.flat().length
        found.bytes += answers.flat().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
        const leak = compareAnswers(environment, endpoint.name, { route, planned: pair, moves }, answers)
        if (leak) found.leaks.push(leak)
      }
    }
  }
}

export interface Side {
  readonly environment: EnvironmentDefinition
  readonly planned: PlannedPair
  readonly moves: readonly PairedMove[]
  readonly which: 'first' | 'second'
  readonly route: Route
  readonly draws: string
  /** Called before the first message with the session, and what the seat gets from then on. */
  readonly begun?: (session: OpenResult, answers: readonly SeatAnswer[]) => void
  /**
   * Sends more, by a session URL, each time before the seat moves, with the number of times before; and at the end,
   * with `null`.
   */
  readonly visit?: (player: AgentPlayer, at: number | null) => Promise<void>
}

/**
 * Plays the moves of one side: the seat by its route, the others by the opener's session. Resolves with what the seat
 * got.
 */
export async function playSide(host: Host, endpoint: OpenEndpoint, side: Side): Promise<readonly SeatAnswer[]> {
  const { environment, planned, moves, which, draws, begun, visit } = side
  const { seat, setting, first } = planned
  const game = await openGame(host, { environment, setting, seed: first.seed })
  const { opened, control } = game
  const rng = createRng(draws).stream('reads')
  const player = await seatPlayer(endpoint, side, opened, control, rng)
  const sendMore = visit && 'send' in player ? (at: number | null) => visit(player as AgentPlayer, at) : null
  begun?.(opened, player.answers)
  await player.begin()
  let turns = 0
  for (const move of moves) {
    const action = move[which]
    if (action && move.seat === seat) {
      await sendMore?.(turns++)
      // What it sent may have been its move.
      const { mine, end } = sendMore ? await control.turn({ seat, wait: 0 }) : { mine: true, end: null }
      if (mine || end) await player.move(action)
      // What the rules throw leaves everything as it was, and the rehearsal has met it too.
    } else if (action) await stepGame(game, { seat: move.seat, action }).catch(() => {})
    await player.readAgain()
  }
  await sendMore?.(null)
  const answers = [...player.answers]
  const { end } = await control.state()
  if (end === null && environment.forkable) {
    const [fork] = await control.fork({ requestKey: crypto.randomUUID() })
    if (fork) {
      const forked = await host.resolve(null, { by: 'control', token: fork.session })
      const twin = await seatPlayer(endpoint, side, fork, forked, rng)
      await twin.begin()
      await forked.close()
      await twin.finish()
      answers.push(
        ...twin.answers.map(({ message, text }) => ({
          message: { ...message, kind: `${message.kind} in a fork` },
          text,
        })),
      )
    }
  }
  const before = player.answers.length
  await control.close()
  await player.finish()
  return [...answers, ...player.answers.slice(before)]
}

async function seatPlayer(
  endpoint: OpenEndpoint,
  { environment, planned: { seat }, route }: Side,
  { seats }: OpenResult,
  control: TrainerSessionRef,
  rng: Rng,
): Promise<SeatPlayer | AgentPlayer> {
  const tools = toolsOfSeat(environment, seat)
  const others = Object.keys(seats).filter((name) => name !== seat)
  const setting = { seat, others, tools, control, rng }
  const { capability, handle } = seats[seat] as OpenResult['seats'][string]
  if (route !== 'seat handle')
    return urlPlayer(setting, await endpoint.openSession(capability), route === 'stateless session URL')
  return handlePlayer({
    ...setting,
    handle: handle as string,
    send: endpoint.sendAsTrainer as NonNullable<OpenEndpoint['sendAsTrainer']>,
  })
}

function compareAnswers(
  environment: EnvironmentDefinition,
  endpoint: string,
  { route, planned, moves }: Pick<Side, 'route' | 'planned' | 'moves'>,
  [first = [], second = []]: readonly (readonly SeatAnswer[])[],
): Leak | null {
  const { seat, setting, first: deal, from, fits } = planned
  const again = `params ${JSON.stringify(setting.params)}, seed ${deal.seed} against ${from}, moves: ${formatMoves(environment, moves)}`
  const others = seatsOfDeal(environment, deal).filter((name) => name !== seat)
  for (const [i, one] of first.entries()) {
    const { kind, text } = one.message
    const shown = route === 'seat handle' ? fieldOfOthers(one.text, others) : null
    if (shown)
      return {
        name: `others-shown:${shown}`,
        what: `The answer to ${kind} by a seat handle over ${endpoint} has ${shown} of another seat.`,
        again: `${again}; message ${i + 1}: ${text.slice(0, 300)}`,
      }
    const other = second[i]
    const difference = findTextDifference(withoutTokens(one.text), withoutTokens(other?.text ?? ''))
    if (!difference) continue
    // A deal that no seed has may make the rules fail, which proves nothing.
    if (!fits && /The environment failed/.test(one.text + other?.text)) return null
    return {
      name: `${route === 'seat handle' ? 'handle-differs' : 'endpoint-differs'}:${endpoint}`,
      what: environment.multiplayer
        ? `The answer to ${kind} by the ${route} of ${seat} over ${endpoint} depends on what is hidden from that seat.`
        : `The answer to ${kind} by the ${route} over ${endpoint} depends on private state.`,
      again: `${again}; message ${i + 1}: ${text.slice(0, 300)}`,
      difference,
    }
  }
  return null
}

function withoutTokens(answer: string): string {
  return answer
    .replace(/\b(mcp|cap)_[\w.-]{22,}/g, '$1_…')
    .replace(/Reference: [\w-]{22}/g, 'Reference: …')
    .replace(/"reference":"[\w-]{22}"/g, '"reference":"…"')
}
