import type { Player, Policy } from '@episodic/env'
import { ownStepOf } from '@episodic/env/internal'
import type { Host } from '@episodic/mcp-server'
import {
  type EnvironmentInfo,
  type MethodResult,
  type Observation,
  type StepReport,
  seedFor,
  WireError,
} from '@episodic/protocol'
import { backOff } from '@episodic/run/base/back-off'
import { invalidOption } from '@episodic/run/base/harness-error'
import { findPolicy } from '../policies.ts'
import type { World } from '../world.ts'

/** How often a seat is tried again, if its policy or the store fails: then the next step of the session. */
const MOST_FAILURES = 8
/** Seats whose policies are kept between two moves: those that moved last. */
const MOST_KEPT = 1_000

type SeatsInTurn = Parameters<Parameters<Host['watchTurns']>[0]>[0]

export interface SeatPlayersOptions {
  readonly onFailed: (failure: { readonly session: string; readonly seat: string; readonly cause: unknown }) => void
}

interface PlayedSeat {
  readonly turn: SeatsInTurn
  readonly seat: string
  readonly handle: string
  readonly policy: Policy
  readonly info: EnvironmentInfo
}

interface OwnStep {
  readonly observation: Observation
  readonly report: StepReport
  readonly replayed: boolean
}

interface KeptPlayer {
  readonly player: Player
  /** `null` before its first move. */
  readonly last: OwnStep | null
}

/**
 * Plays seats of all sessions of a host by policies, with a handle for each seat, until it is disposed of.
 *
 * A policy is started once for a seat of a session, and sees what it would see in a run. It is started anew, from what
 * its seat sees then, with a seed that follows from the seat and the move, where this server did not make the seat's
 * last move: after a restart the moves that are missing are found in the store and made. A move is played once, however
 * many servers make it, because each is sent with its `seq`.
 */
export async function playSeats(
  host: Host,
  policies: SeatPolicies,
  { onFailed }: SeatPlayersOptions,
): Promise<AsyncDisposable> {
  const stopping = new AbortController()
  const { signal } = stopping
  /** The seats that are being played, by handle, and whether each has to be looked at again. */
  const playing = new Map<string, { again: boolean; readonly done: Promise<void> }>()
  /** By handle, the one that moved last at the end. */
  const kept = new Map<string, KeptPlayer>()
  const stop = await host.watchTurns((turn) => {
    for (const { seat, handle } of turn.seats) {
      const policy = policies[turn.environment]?.[seat]
      const info = host.environments.find(({ name }) => name === turn.environment)
      const one = playing.get(handle)
      if (one) one.again = true
      else if (policy && info) playing.set(handle, { again: false, done: play({ turn, seat, handle, policy, info }) })
    }
  })
  return {
    async [Symbol.asyncDispose]() {
      stop()
      stopping.abort()
      await Promise.all([...playing.values()].map(({ done }) => done))
    },
  }

  async function play(played: PlayedSeat): Promise<void> {
    const { seat, handle, turn } = played
    // Not within the commit that this follows from.
    await Promise.resolve()
    for (let failures = 0; failures < MOST_FAILURES && !signal.aborted; ) {
      try {
        if (await move(played)) failures = 0
        else if (!lookAgain(handle)) break
      } catch (cause) {
        if (signal.aborted || WireError.is(cause, 'session-not-found')) break
        onFailed({ session: turn.session, seat, cause })
        await backOff(++failures, signal)
      }
    }
    playing.delete(handle)
  }

  function lookAgain(handle: string): boolean {
    const one = playing.get(handle)
    const again = one?.again ?? false
    if (one) one.again = false
    return again
  }

  /** Resolves with whether the seat was in turn, so that it may be so again. */
  async function move(played: PlayedSeat): Promise<boolean> {
    const { seat, handle, info } = played
    const session = await host.resolve(null, { by: 'control', token: handle })
    const view = await session.turn({ seat, wait: 0 })
    const earlier = kept.get(handle)
    // It is kept again once its move was made.
    if (view.mine || view.end) kept.delete(handle)
    if (!view.mine) return false
    const { seq, due } = view
    const { player, last } = earlier?.last?.report.seq === seq ? earlier : await start(played, seq, view.observation)
    const observation = last ? seenAfter(last, view) : joined(view.messages, view.observation)
    const action = await player(observation, {
      last: last && ownStepOf(last, { observation, due }),
      signal,
      ...(info.offers && { tools: toolsIn(info, observation, seat) }),
      ...(info.legal && { legal: async () => session.legal(seat) }),
    })
    try {
      const { step, replayed } = await session.step({ action, seat, seq, waiting: { signal, report: () => {} } })
      if (!step.report.end) keep(handle, { player, last: { ...step, replayed } })
    } catch (error) {
      // Another server on the store was faster, or the time of the turn is over.
      if (!OVERTAKEN.some((code) => WireError.is(error, code))) throw error
    }
    return true
  }

  async function start(played: PlayedSeat, seq: number, observation: Observation): Promise<KeptPlayer> {
    const { seat, handle, policy, turn, info } = played
    const player = await policy.start({
      task: { prompt: `${info.description}\n\nYou play the seat ${seat}.`, hints: [], params: turn.params },
      tools: toolsIn(info, observation, seat),
      seed: seedFor('seat', handle, seq),
      seat,
    })
    return { player, last: null }
  }

  function keep(handle: string, player: KeptPlayer): void {
    kept.set(handle, player)
    const [oldest] = kept.keys()
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  }
}

/** What a seat sees when it may act, as in a run: the answer to its last step, and what came since. */
function seenAfter({ observation, report }: OwnStep, view: MethodResult<'turn'>): Observation {
  const { messages } = view
  // An answer to who may act at once shows the state, unless another has moved since.
  const isCurrent =
    report.seats?.turn.length && messages.length === 0 && observation.text.endsWith(view.observation.text)
  return isCurrent
    ? observation
    : joined([observation.text, ...messages].slice(observation.text === '' ? 1 : 0), view.observation)
}

function joined(texts: readonly string[], view: Observation): Observation {
  return { ...view, text: [...texts, view.text].join('\n') }
}

function toolsIn({ tools, seats }: EnvironmentInfo, { tools: offered }: Observation, seat: string) {
  const names = offered ?? seats?.find(({ name }) => name === seat)?.tools
  return tools.filter(({ name }) => names?.includes(name))
}

const OVERTAKEN = ['seq-conflict', 'seq-reused', 'not-your-turn', 'episode-ended'] as const

export interface SeatPolicies {
  readonly [environment: string]: { readonly [seat: string]: Policy }
}

/**
 * Finds the policies that `--seat <seat>=<policy>` names: each plays the seat of that name in every served environment
 * that has one. Rejects with `option-invalid`, and with `policy-unknown`.
 */
export async function readSeatPolicies(
  named: Readonly<Record<string, string>>,
  worlds: readonly World[],
): Promise<SeatPolicies> {
  const policies: Record<string, Record<string, Policy>> = {}
  for (const [seat, name] of Object.entries(named)) {
    const games = worlds.filter(({ environment }) => environment.multiplayer && environment.seats.includes(seat))
    if (games.length === 0) throw invalidOption(`There is no seat "${seat}". ${formatSeats(worlds)}`)
    for (const world of games) {
      const { environment } = world
      const own = { ...policies[environment.name] }
      own[seat] = await findPolicy(name, world)
      if (environment.seats.every((each) => Object.hasOwn(own, each)))
        throw invalidOption(`--seat is given for every seat of ${environment.name}. Leave one to those who play here.`)
      policies[environment.name] = own
    }
  }
  return policies
}

function formatSeats(worlds: readonly World[]): string {
  const games = worlds.map(({ environment }) => environment).filter(({ multiplayer }) => multiplayer)
  if (games.length === 0) return 'What is served has one seat, which is not named.'
  return games.map(({ name, seats }) => `The seats of ${name} are: ${seats.join(', ')}.`).join(' ')
}
