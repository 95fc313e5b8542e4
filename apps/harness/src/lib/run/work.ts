import { once } from 'node:events'
import { HarnessError } from '../harness-error.ts'
import type { RunConfiguration } from './configuration.ts'
import type { Playing } from './open-playing.ts'
import type { Deal, ToldError, WorkerMessage } from './worker-messages.ts'

/**
 * Plays, as one of several processes of a run, what that deals to it, until it lets go of this process or dies.
 *
 * It alone seals: this process keeps nothing. Throws `option-invalid` where no run started it.
 */
export async function work(open: (configuration: RunConfiguration) => Promise<Playing>): Promise<void> {
  if (process.send === undefined)
    throw new HarnessError('option-invalid', 'Only a run starts its workers. Give it --processes <count>.')
  if (!process.connected) return
  // Ctrl-C reaches both, and is for the run to act on.
  process.on('SIGINT', () => {})
  const released = new AbortController()
  process.once('disconnect', () => released.abort(new Error('the run let go of its worker')))
  const { signal } = released
  try {
    const [configuration] = await once(process, 'message', { signal })
    await using playing = await open(configuration)
    const playingNow = new Set<Promise<void>>()
    process.on('message', (deal: Deal) => {
      const played = playDeal(deal, playing, signal).finally(() => playingNow.delete(played))
      playingNow.add(played)
    })
    tell({ kind: 'ready' })
    if (!signal.aborted) await once(signal, 'abort')
    await Promise.all(playingNow)
  } catch (error) {
    if (!signal.aborted) tell({ kind: 'failed', number: null, error: toldError(error) })
  } finally {
    // The channel to the run would keep this process.
    if (process.connected) process.disconnect()
  }
}

async function playDeal(
  { number, run, started, planned }: Deal,
  { play }: Playing,
  signal: AbortSignal,
): Promise<void> {
  const dealt = performance.now()
  const now = () => started + performance.now() - dealt
  try {
    tell({ kind: 'played', number, records: await play(planned, { run, signal, now }) })
  } catch (error) {
    tell({ kind: 'failed', number, error: toldError(error) })
  }
}

/** What it says to nobody is lost: a run that is gone has no use for it. */
function tell(message: WorkerMessage): void {
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}

function toldError(error: unknown): ToldError {
  const message = error instanceof Error ? error.message : String(error)
  return { code: HarnessError.is(error) ? error.code : null, message }
}
