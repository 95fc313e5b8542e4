import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { EpisodeRecord } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import { CLI } from '../serve/start-server.ts'
import type { RunConfiguration } from './configuration.ts'
import type { PlannedEpisode } from './plan.ts'
import type { Sitting } from './play-planned.ts'
import type { Deal, ToldError, WorkerMessage } from './worker-messages.ts'

/** A process that plays for a run. */
export interface Worker {
  /** Resolves once it is ready to play. Rejects with what kept it from that. */
  readonly ready: Promise<void>
  /** How many it plays now. */
  readonly load: number
  /** Plays one of the plan; `null` where the process ended before, or the signal aborted. */
  play(planned: PlannedEpisode, sitting: Sitting): Promise<readonly EpisodeRecord[] | null>
  /** Resolves with how it ended: the name of a signal, or its status. */
  readonly ended: Promise<string>
  /** Asks it to give up what it plays, and to end. */
  release(): void
  /** Ends it at once. */
  kill(): void
}

/** Starts a worker: another process of the command that was given. */
export function startWorker(args: readonly string[], configuration: RunConfiguration): Worker {
  const [command = 'run', ...rest] = args
  const child = fork(CLI, [command, '--worker', ...rest], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  // Where it cannot be sent, the process has ended, which is heard of by itself.
  const send = (message: RunConfiguration | Deal) => void child.send(message, () => {})
  const playing = new Map<number, PromiseWithResolvers<readonly EpisodeRecord[] | null>>()
  const ready = Promise.withResolvers<void>()
  let dealt = 0

  const hear = (message: WorkerMessage) => {
    if (message.kind === 'ready') ready.resolve()
    else if (message.kind === 'played') playing.get(message.number)?.resolve(message.records)
    else if (message.number === null) ready.reject(errorOf(message.error))
    else playing.get(message.number)?.reject(errorOf(message.error))
  }
  child.on('message', hear)
  const end = (how: string) => {
    ready.reject(new HarnessError('worker-failed', `A process of the run did not start: it ended with ${how}.`))
    for (const answer of playing.values()) answer.resolve(null)
    return how
  }
  // Its end may be heard of before the last that it said is. One that the system refuses to start has an error alone.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(
    ([[status, signal]]) => end(signal ?? `status ${status}`),
    (error: Error) => end(error.message),
  )
  // It is waited for by whoever starts it; where that has given up, it is nobody's.
  ready.promise.catch(() => {})
  send(configuration)

  return {
    ready: ready.promise,
    get load() {
      return playing.size
    },
    async play(planned, { run, signal, now }) {
      const number = dealt++
      const answer = Promise.withResolvers<readonly EpisodeRecord[] | null>()
      const giveUp = () => answer.resolve(null)
      playing.set(number, answer)
      signal.addEventListener('abort', giveUp, { once: true })
      try {
        if (!child.connected) return null
        send({ number, run, started: now(), planned })
        return await answer.promise
      } finally {
        signal.removeEventListener('abort', giveUp)
        playing.delete(number)
      }
    },
    ended,
    release() {
      if (child.connected) child.disconnect()
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

function errorOf({ code, message }: ToldError): HarnessError {
  return new HarnessError(code ?? 'worker-failed', message)
}
