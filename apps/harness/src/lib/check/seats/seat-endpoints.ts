import { createHost, type Host, type TrainerSessionRef } from '@episodic/mcp-server'
import { createRng, type JsonObject, type OpenResult, type Rng, seedFor } from '@episodic/protocol'
import type { CheckContext } from '../check-context.ts'
import type { Deal } from '../deal.ts'
import type { OpenEndpoint } from '../endpoints/agent-endpoint.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { type Instrumentation, instrumentEnvironment } from '../secrecy/instrumented-environment.ts'
import { fieldOfOthers, handlePlayer } from './handle-player.ts'
import { type PairedMove, type PlannedPair, playPair } from './paired-play.ts'
import type { SeatAnswer, SeatPlayer } from './seat-player.ts'
import { urlPlayer } from './url-player.ts'

/** The share of all pairs that is played by each route, at an endpoint with connections and in this process. */
const SHARE = { connected: 0.03, inProcess: 0.12 }
/** Seconds that an answer is held at most. In a sound game no answer waits for so long. */
const HOLD = 5

/** The ways in which a seat is played. */
export const ROUTES = ['session URL', 'stateless session URL', 'seat handle'] as const
export type Route = (typeof ROUTES)[number]

/** The endpoints at which the answer to one message may come after those to later ones. */
export const HOLDING_ENDPOINTS: readonly string[] = ['http', 'in process']

/**
 * Plays pairs of real sessions, each seat at real endpoints: by its session URL, in both kinds of protocol versions,
 * and by its seat handle. The other seats move by the opener's session. Everything that the seat gets is compared:
 * answers that are held, waits, calls out of turn, repeated steps, views, lists, notifications, and all of it once more
 * in a fork.
 */
export async function comparePairsAtSeats(
  context: CheckContext,
  plan: (rng: Rng) => PlannedPair | null,
): Promise<{
  readonly pairs: number
  readonly messages: number
  readonly bytes: number
  readonly findings: readonly Finding[]
}> {
  const { world, seed } = context
  const findings: Finding[] = []
  const counts = { pairs: 0, messages: 0, bytes: 0 }
  const instrumentation: Instrumentation = { privateState: null, deal: null, failing: null, onReveal() {} }
  for (const endpoint of context.endpoints.filter(({ name }) => HOLDING_ENDPOINTS.includes(name))) {
    await using host = createHost({
      environments: [instrumentEnvironment(world.environment, instrumentation)],
      bounds: { waitSeconds: HOLD },
    })
    await using opened = await endpoint.open(host)
    // Without HTTP there is one kind of protocol version.
    for (const route of ROUTES.filter((one) => endpoint.name === 'http' || one !== 'stateless session URL')) {
      if (route === 'seat handle' && !opened.sendAsTrainer) continue
      const share = endpoint.name === 'http' ? SHARE.connected : SHARE.inProcess
      for (let i = 0; i < Math.ceil(context.pairs * share); i++) {
        context.signal?.throwIfAborted()
        const draws = seedFor(seed, 'seat pair', endpoint.name, route, i)
        const planned = plan(createRng(draws))
        if (!planned) continue
        const { moves } = await playPair(world, planned, createRng(draws).stream('play'))
        const answers: (readonly SeatAnswer[])[] = []
        for (const which of ['first', 'second'] as const) {
          instrumentation.deal = planned[which]
          answers.push(await playSide(host, opened, { context, planned, moves, which, route, draws }))
        }
        instrumentation.deal = null
        counts.pairs += 1
        counts.messages += answers.flat().length
        counts.bytes += answers.flat().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
        const finding = compareAnswers({ endpoint: endpoint.name, route, planned, moves }, answers)
        if (finding) findings.push(finding)
      }
    }
  }
  return { ...counts, findings }
}

/** One of the two plays of a pair, at an endpoint. */
export interface Side {
  readonly context: CheckContext
  readonly planned: PlannedPair
  readonly moves: readonly PairedMove[]
  readonly which: 'first' | 'second'
  readonly route: Route
  /** The seed of what is read. */
  readonly draws: string
  /** Called before the first message with what the seat gets from then on. */
  readonly onStart?: (answers: readonly SeatAnswer[]) => void
}

/**
 * Plays the moves of one side: the seat by its route, the others by the opener's session. Resolves with what the seat
 * got.
 */
export async function playSide(host: Host, endpoint: OpenEndpoint, side: Side): Promise<readonly SeatAnswer[]> {
  const { context, planned, moves, which, draws } = side
  const { seat, setting } = planned
  const opened = await host.open(null, {
    environment: context.world.environment.name,
    params: setting.params,
    seed: planned.first.seed,
    limits: { steps: setting.steps },
    requestKey: crypto.randomUUID(),
  })
  const control = await host.resolve(null, { by: 'control', token: opened.session })
  const rng = createRng(draws).stream('reads')
  const player = await seatPlayer(endpoint, side, opened, control, rng)
  side.onStart?.(player.answers)
  await player.begin()
  for (const move of moves) {
    const action = move[which]
    if (move.seat === seat && action) await player.move(action)
    else if (action) await stepOther(control, move.seat, action)
    await player.look()
  }
  const answers = [...player.answers]
  const { end } = await control.state()
  if (end === null) {
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

/** Plays a step of a seat that nobody listens to. What its rules throw leaves everything as it was. */
async function stepOther(
  control: TrainerSessionRef,
  seat: string,
  action: { readonly tool: string; readonly arguments: JsonObject },
): Promise<void> {
  const seq = (await control.state()).seats[seat]?.seq
  try {
    await control.step({ action, seat, seq })
  } catch {
    // The rehearsal of the pair has met the same.
  }
}

async function seatPlayer(
  endpoint: OpenEndpoint,
  { context, planned: { seat }, route }: Side,
  { seats }: OpenResult,
  control: TrainerSessionRef,
  rng: Rng,
): Promise<SeatPlayer> {
  const tools = toolsOfSeat(context.world.environment, seat)
  const setting = { seat, tools, control, rng }
  const { capability, handle } = seats[seat] as OpenResult['seats'][string]
  if (route !== 'seat handle')
    return urlPlayer(setting, await endpoint.openSession(capability), route === 'stateless session URL')
  return handlePlayer({
    ...setting,
    handle: handle as string,
    others: Object.keys(seats).filter((name) => name !== seat),
    send: endpoint.sendAsTrainer as NonNullable<OpenEndpoint['sendAsTrainer']>,
  })
}

interface ComparedRoute {
  readonly endpoint: string
  readonly route: Route
  readonly planned: PlannedPair
  readonly moves: readonly PairedMove[]
}

function compareAnswers(
  { endpoint, route, planned, moves }: ComparedRoute,
  [first = [], second = []]: readonly (readonly SeatAnswer[])[],
): Finding | null {
  const { seat, setting, first: deal, from, fits } = planned
  const again = `params ${JSON.stringify(setting.params)}, seed ${deal.seed} against ${from}, moves: ${JSON.stringify(moves).slice(0, 600)}`
  const others = Object.keys((deal as Deal).state.own ?? {}).filter((name) => name !== seat)
  for (const [i, one] of first.entries()) {
    const { kind, text } = one.message
    const shown = route === 'seat handle' ? fieldOfOthers(one.text, others) : null
    if (shown)
      return {
        name: `others-shown:${shown}`,
        what: `The answer to ${kind} by a seat handle over ${endpoint} has ${shown} of another seat.`,
        again: `${again}; message ${i + 1}: ${text.slice(0, 300)}`,
        advice:
          'A seat handle gives what its own seat sees and earns. Check the code between the endpoint and the host.',
      }
    const other = second[i]
    const difference = findTextDifference(one.text, other?.text ?? '')
    if (!difference) continue
    // A deal that no seed has may make the rules fail, which proves nothing.
    if (!fits && /The environment failed/.test(one.text + other?.text)) return null
    return {
      name: `${route === 'seat handle' ? 'handle-differs' : 'endpoint-differs'}:${endpoint}`,
      what: `The answer to ${kind} by the ${route} of ${seat} over ${endpoint} depends on what is hidden from that seat.`,
      again: `${again}; message ${i + 1}: ${text.slice(0, 300)}`,
      advice:
        'Except for what goes through reveal(…), nothing that a seat gets may depend on the private state or on what other seats hold.',
      difference,
    }
  }
  return null
}
