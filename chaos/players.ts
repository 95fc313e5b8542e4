import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, EnvError, type Environment } from '@episodic/env'
import { type Rng, WireError } from '@episodic/protocol'
import type { Oracle } from './oracle.ts'

export interface PlayOptions {
  readonly connection: Connection
  readonly oracle: Oracle
  readonly rng: Rng
  /** How many play at once, each one episode after the other. */
  readonly players: number
  /** Steps of all of them together. */
  readonly steps: number
  /** Steps of an episode. */
  readonly length: number
  /** Hears of every step that was told. */
  readonly onStep?: () => void
  /** Says that there is no point in going on. */
  readonly over?: () => boolean
}

/**
 * Plays the ledger's world until all steps are told, with the real client, and tells the oracle.
 *
 * Sessions are left open, so that all of them can be settled in the end. What the client gives up on (it has bounds, and
 * a server may be away for longer) is asked for again.
 */
export async function playLedgers(options: PlayOptions): Promise<void> {
  const { players, steps, length } = options
  let left = Math.ceil(steps / length)
  await Promise.all(
    Array.from({ length: players }, async (_, index) => {
      const rng = options.rng.stream(`player ${index}`)
      while (left-- > 0 && !options.over?.()) await playLedger(options.connection.environment('ledger'), rng, options)
    }),
  )
}

async function playLedger(environment: Environment, rng: Rng, options: PlayOptions): Promise<void> {
  const { oracle, length, onStep, over } = options
  const start = await insist(() => environment.reset({ params: { entries: length } }))
  const id = start.info.id as string
  for (let ended = false; !ended && !over?.(); ) {
    const action = { tool: 'add', arguments: { amount: rng.int(1, 1_000) } }
    oracle.asks(id)
    const step = await insist(() => environment.step(action))
    oracle.tells(id, action, step)
    onStep?.()
    ended = step.end !== null
  }
}

/** Milliseconds between two calls that nobody answered: a server needs some time to come back. */
const PAUSE = 25

/** Makes a call until it is answered. Passes on every refusal but the ones that ask for it again. */
export async function insist<T>(call: () => Promise<T>, seconds = 60): Promise<T> {
  const deadline = performance.now() + seconds * 1_000
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isPassing(error) || performance.now() > deadline) throw error
      await pause(PAUSE)
    }
  }
}

function isPassing(error: unknown): boolean {
  return EnvError.is(error, 'connection-failed') || WireError.is(error, 'store-unavailable')
}
