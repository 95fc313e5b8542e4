import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, EnvError, type Environment } from '@episodic/env'
import { type JsonObject, type Rng, WireError } from '@episodic/protocol'
import type { Oracle } from '../oracles/oracle.ts'

export interface PlayOptions {
  readonly connection: Connection
  readonly oracle: Oracle
  readonly rng: Rng
  /** The number of players, each of which plays one episode after the other. */
  readonly players: number
  /** Steps of all players together. */
  readonly steps: number
  /** Steps of an episode. */
  readonly length: number
  /** Called after every answered step. */
  readonly onStep?: () => void
  /** Returns whether to stop. */
  readonly over?: () => boolean
}

/** Accounts in the ledgers of every other player: a state of about 100 KiB, in pages that these sessions share. */
export const ROWS = 1_000

/**
 * Plays the ledger's world with the real client until all steps are answered, and reports each step to the oracle.
 *
 * Sessions stay open, so that the oracle can check all of them in the end. A call that the client gives up on is
 * repeated: its retries are bounded, and a server may be down for longer.
 */
export async function playLedgers(options: PlayOptions): Promise<void> {
  const { players, steps, length } = options
  let left = Math.ceil(steps / length)
  await Promise.all(
    Array.from({ length: players }, async (_, index) => {
      const rng = options.rng.stream(`player ${index}`)
      const params = { entries: length, rows: index % 2 === 0 ? 0 : ROWS }
      while (left-- > 0 && !options.over?.())
        await playLedger(options.connection.environment('ledger'), params, rng, options)
    }),
  )
}

async function playLedger(environment: Environment, params: JsonObject, rng: Rng, options: PlayOptions): Promise<void> {
  const { oracle, onStep, over } = options
  const start = await insist(() => environment.reset({ params }))
  const id = start.info.id as string
  for (let ended = false; !ended && !over?.(); ) {
    const action = { tool: 'add', arguments: { amount: rng.int(1, 1_000) } }
    oracle.asks(id)
    const step = await insist(() => environment.step(action))
    oracle.receives(id, action, step)
    onStep?.()
    ended = step.end !== null
  }
}

/** Milliseconds before a call is repeated: a server needs some time to restart. */
const PAUSE = 25

/** Repeats a call until it is answered. Rejects with every error except those that ask for a retry. */
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
