import { type Machine, type MachineCommand, MachineError, type MachineResult } from './machine.ts'
import type { SessionPool } from './session-pool.ts'

export interface OpenedMachine<Kept> {
  readonly pool: SessionPool<Kept>
  /** Runs a command with what is kept of its session. Throws {@link BoxLost} if it cannot know whether that has run. */
  run(kept: Kept, command: MachineCommand, signal: AbortSignal, discard: () => void): Promise<MachineResult>
  /** Removes all that it keeps. No command runs any more. */
  close(): Promise<void>
}

/** A box, or the reply of what runs in it, was lost. */
export class BoxLost extends Error {
  /** Whether the command may have begun. */
  readonly isBegun: boolean

  constructor(message: string, isBegun: boolean, cause?: unknown) {
    super(message, { cause })
    this.isBegun = isBegun
  }
}

const TRIES = 3

/** Returns a machine of a kind, which is opened when the first command runs. */
export function createSessionMachine<Kept>(name: string, open: () => Promise<OpenedMachine<Kept>>): Machine {
  const ending = new AbortController()
  const running = new Set<Promise<unknown>>()
  let opening: Promise<OpenedMachine<Kept>> | null = null

  async function run(command: MachineCommand, signal: AbortSignal): Promise<MachineResult> {
    opening ??= open()
    const opened = await opening.catch((error: unknown) => {
      opening = null
      throw error
    })
    for (let tries = 1; ; tries += 1)
      try {
        return await opened.pool.use(command.session, signal, (kept, discard) =>
          opened.run(kept, command, signal, discard),
        )
      } catch (error) {
        if (!(error instanceof BoxLost)) throw error
        // It has changed nothing but its files, so it runs again from the same ones: but for what it did elsewhere.
        const isUnknown = error.isBegun && command.network
        if (!isUnknown && tries < TRIES) continue
        const why = isUnknown
          ? 'Its command has changed no file, and may have done something over the network: look there before it is run again.'
          : `So were those before it: ${TRIES}.`
        const said = `A box of ${name} was lost: ${error.message} ${why}`
        throw new MachineError('machine-refused', said, { cause: error })
      }
  }

  return {
    name,
    async run(command, given) {
      const signal = AbortSignal.any([given, ending.signal])
      signal.throwIfAborted()
      const result = run(command, signal)
      running.add(result)
      try {
        return await result
      } finally {
        running.delete(result)
      }
    },
    async close() {
      ending.abort(new MachineError('machine-closed', 'The machine was closed: it runs no command any more.'))
      await Promise.allSettled(running)
      const opened = await opening?.catch(() => null)
      await opened?.close()
    },
  }
}
