import type { Policy } from '@episodic/env'
import { type Host, inProcess } from '@episodic/mcp-server'
import { type Channel, META, METHOD_SCHEMAS, METHODS, seedFor, WireError } from '@episodic/protocol'
import { backOff } from '../back-off.ts'
import type { SeatPolicies } from './seat-policies.ts'

/** How often a seat is tried again, if its policy or the store fails: then the next step of the session. */
const MOST_FAILURES = 8

type SeatsInTurn = Parameters<Parameters<Host['watchTurns']>[0]>[0]

export interface SeatPlayersOptions {
  /** Is called with the cause of each failed move, which is tried again. */
  readonly onFailed: (failure: { readonly session: string; readonly seat: string; readonly cause: unknown }) => void
}

/**
 * Plays seats of all sessions of a host by policies, over the trainer endpoint with a handle for each seat, until it is
 * disposed of.
 *
 * A policy is started anew for each move, from what its seat sees then, with a seed that follows from the seat and the
 * move. So nothing is kept: after a restart, the moves that are missing are found in the store and made. A move is played
 * once, however many servers make it, because each is sent with its `seq`.
 */
export async function playSeats(
  host: Host,
  policies: SeatPolicies,
  options: SeatPlayersOptions,
): Promise<AsyncDisposable> {
  const players = new SeatPlayers(host, policies, options)
  const stop = await host.watchTurns((turn) => players.take(turn))
  return {
    async [Symbol.asyncDispose]() {
      stop()
      await players.stop()
    },
  }
}

/** A seat of a session, and how it is played. */
interface PlayedSeat {
  readonly turn: SeatsInTurn
  readonly seat: string
  readonly handle: string
  readonly policy: Policy
}

class SeatPlayers {
  readonly #host: Host
  readonly #channel: Channel
  readonly #policies: SeatPolicies
  readonly #options: SeatPlayersOptions
  readonly #stopping = new AbortController()
  /** The seats that are being played, by handle, and whether each has to be looked at again. */
  readonly #playing = new Map<string, { again: boolean; readonly done: Promise<void> }>()

  constructor(host: Host, policies: SeatPolicies, options: SeatPlayersOptions) {
    this.#host = host
    this.#channel = inProcess(host)
    this.#policies = policies
    this.#options = options
  }

  take(turn: SeatsInTurn): void {
    for (const { seat, handle } of turn.seats) {
      const policy = this.#policies[turn.environment]?.[seat]
      const playing = this.#playing.get(handle)
      if (playing) playing.again = true
      else if (policy) this.#playing.set(handle, { again: false, done: this.#play({ turn, seat, handle, policy }) })
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#playing.values()].map(({ done }) => done))
  }

  /** Plays a seat while it may act. */
  async #play(played: PlayedSeat): Promise<void> {
    const { signal } = this.#stopping
    const { seat, handle, turn } = played
    // Not within the commit that this follows from.
    await Promise.resolve()
    for (let failures = 0; failures < MOST_FAILURES && !signal.aborted; ) {
      try {
        if (await this.#move(played)) failures = 0
        else if (!this.#again(handle)) break
      } catch (cause) {
        if (signal.aborted || WireError.is(cause, 'session-not-found')) break
        this.#options.onFailed({ session: turn.session, seat, cause })
        await backOff(++failures, signal)
      }
    }
    this.#playing.delete(handle)
  }

  #again(handle: string): boolean {
    const playing = this.#playing.get(handle)
    const again = playing?.again ?? false
    if (playing) playing.again = false
    return again
  }

  /** Makes one move of a seat. Resolves with whether the seat was in turn, so that it may be so again. */
  async #move({ turn: { environment, params }, seat, handle, policy }: PlayedSeat): Promise<boolean> {
    const { signal } = this.#stopping
    const session = { session: handle, seat }
    const ask = (method: string) => this.#channel.request(method, session, { signal })
    const { mine, seq, observation, messages } = METHOD_SCHEMAS.turn.result.parse(await ask(METHODS.turn))
    if (!mine) return false
    const info = this.#host.environments.find(({ name }) => name === environment)
    const own = info?.seats?.find(({ name }) => name === seat)
    const player = await policy.start({
      task: { prompt: `${info?.description}\n\nYou play the seat ${seat}.`, hints: [], params },
      tools: info?.tools.filter(({ name }) => own?.tools.includes(name)) ?? [],
      seed: seedFor('seat', handle, seq),
      seat,
    })
    const legal = async () => METHOD_SCHEMAS.legal.result.parse(await ask(METHODS.legal)).tools
    const text = [...messages, observation.text].join('\n')
    const action = await player({ ...observation, text }, { last: null, signal, ...(info?.legal && { legal }) })
    const _meta = { [META.session]: handle, [META.seat]: seat, [META.seq]: seq }
    try {
      await this.#channel.request('tools/call', { name: action.tool, arguments: action.arguments, _meta }, { signal })
    } catch (error) {
      // Another server on the store was faster, or the time of the turn is over.
      if (!OVERTAKEN.some((code) => WireError.is(error, code))) throw error
    }
    return true
  }
}

const OVERTAKEN = ['seq-conflict', 'seq-reused', 'not-your-turn', 'episode-ended'] as const
