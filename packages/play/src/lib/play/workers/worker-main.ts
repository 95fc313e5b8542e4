import { once } from 'node:events'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { machineClock } from '@episodic/run/base/waiting-clock'
import { lineOf } from '@episodic/run/folder/record/own-lines'
import { loadPlayedWorld } from '../../worlds/served-world.ts'
import { orderStarts } from '../episodes/episode-starts.ts'
import { openRunner, type Runner } from '../episodes/open-runner.ts'
import type { Answered } from '../episodes/rollout.ts'
import { joinRun, journalOf } from '../find-run.ts'
import { createOutbox } from './outbox.ts'
import type { SerializedError, StartMessage, TaskMessage, WorkerMessage } from './worker-messages.ts'

/**
 * Plays the episodes that a run sends to this process, until the run disconnects or ends. The run seals them; this
 * process stores nothing. Throws `option-invalid` if no run started this process.
 */
export async function runWorker(): Promise<void> {
  if (process.send === undefined) throw invalidOption('Only a run starts its workers. Give it --processes <count>.')
  if (!process.connected) return
  // Ctrl-C reaches both processes; the run handles it.
  process.on('SIGINT', () => {})
  const released = new AbortController()
  process.once('disconnect', () => released.abort(new Error('the run released its worker')))
  const { signal } = released
  try {
    const [start] = await once(process, 'message', { signal })
    await using runner = await open(start)
    const playing = new Set<Promise<void>>()
    const untilNext = orderStarts(machineClock)
    process.on('message', async (messages: readonly TaskMessage[]) => {
      for (const message of messages) {
        const played = play(message, runner, signal).finally(() => playing.delete(played))
        playing.add(played)
        await untilNext(played)
      }
    })
    outbox.add({ kind: 'ready' })
    if (!signal.aborted) await once(signal, 'abort')
    await Promise.all(playing)
  } catch (error) {
    if (!signal.aborted) outbox.add({ kind: 'failed', number: null, error: serializeError(error) })
  } finally {
    outbox.flush()
    // An open channel to the run would keep this process alive.
    if (process.connected) process.disconnect()
  }
}

async function open({ configuration, reference, settings, target, folder }: StartMessage): Promise<Runner> {
  const world = await loadPlayedWorld(reference, target)
  const run = await joinRun(configuration, { given: reference, world, named: target }, settings)
  return openRunner(run, journalOf(run, folder))
}

async function play(
  { number, run, started, planned }: TaskMessage,
  { runTask }: Runner,
  signal: AbortSignal,
): Promise<void> {
  const received = performance.now()
  const now = () => started + performance.now() - received
  try {
    const onAnswer = (answered: Answered) => outbox.add({ kind: 'answered', number, answered })
    const records = await runTask(planned, { run, signal, now, onAnswer })
    outbox.add({ kind: 'played', number, lines: records.map(lineOf) })
  } catch (error) {
    outbox.add({ kind: 'failed', number, error: serializeError(error) })
  }
}

/** Messages to a run that has ended are dropped. */
const outbox = createOutbox<WorkerMessage>((messages) => {
  if (process.connected) process.send?.(messages, undefined, {}, () => {})
})

function serializeError(error: unknown): SerializedError {
  const message = error instanceof Error ? error.message : String(error)
  return { code: HarnessError.is(error) ? error.code : null, message }
}
