import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { SealedRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { readOwnLine } from '@episodic/run/folder/record/own-lines'
import { CLI } from '../../worlds/own-command.ts'
import { playerEnvironment, secretsOf } from '../../worlds/player-environment.ts'
import type { RunContext } from '../episodes/rollout.ts'
import { createOutbox } from './outbox.ts'
import type { SerializedError, StartMessage, TaskMessage, WorkerMessage } from './worker-messages.ts'

export type Worker = ReturnType<typeof startWorker>

interface Playing {
  readonly context: RunContext
  readonly answer: PromiseWithResolvers<readonly SealedRecord[] | null>
}

export function startWorker(start: StartMessage) {
  // Lines are long texts, which the structured clone algorithm copies, and JSON would escape.
  const child = fork(CLI, ['run', '--worker'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: playerEnvironment(secretsOf(start.target, start.settings.queue)),
  })
  // Sending fails only if the process has ended, which `ended` reports.
  const send = (message: StartMessage | readonly TaskMessage[]) => void child.send(message, () => {})
  const outbox = createOutbox<TaskMessage>((tasks) => {
    if (child.connected) send(tasks)
  })
  const playing = new Map<number, Playing>()
  const ready = Promise.withResolvers<void>()
  let sent = 0

  const receive = (message: WorkerMessage) => {
    if (message.kind === 'ready') ready.resolve()
    else if (message.kind === 'answered') playing.get(message.number)?.context.onAnswer?.(message.answered)
    else if (message.kind === 'played') playing.get(message.number)?.answer.resolve(message.lines.map(readOwnLine))
    else if (message.number === null) ready.reject(errorOf(message.error))
    else playing.get(message.number)?.answer.reject(errorOf(message.error))
  }
  child.on('message', (messages: readonly WorkerMessage[]) => messages.forEach(receive))
  const end = (how: string) => {
    ready.reject(new HarnessError('worker-failed', `A process of the run did not start: it ended with ${how}.`))
    for (const { answer } of playing.values()) answer.resolve(null)
    return how
  }
  // `exit` may be emitted before the last message, so wait for `disconnect` too. A process that cannot be spawned emits
  // `error` only.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(
    ([[status, signal]]) => end(signal ?? `status ${status}`),
    (error: Error) => end(error.message),
  )
  // The caller awaits it, unless it has given up by then.
  ready.promise.catch(() => {})
  send(start)

  return {
    /** Resolves when it is ready to play. Rejects with the error that kept it from starting. */
    ready: ready.promise,
    get load() {
      return playing.size
    },
    /** Plays one of the plan. Resolves with `null` if the process ended first, or the signal aborted. */
    async play(planned: PlannedEpisode, context: RunContext) {
      const { run, signal, now } = context
      const number = sent++
      const answer = Promise.withResolvers<readonly SealedRecord[] | null>()
      const giveUp = () => answer.resolve(null)
      playing.set(number, { answer, context })
      signal.addEventListener('abort', giveUp, { once: true })
      try {
        if (!child.connected) return null
        outbox.add({ number, run, started: now(), planned })
        return await answer.promise
      } finally {
        signal.removeEventListener('abort', giveUp)
        playing.delete(number)
      }
    },
    /** Resolves with how it ended: the name of a signal, or its status. */
    ended,
    /** Asks it to drop what it plays, and to end. */
    release() {
      if (child.connected) child.disconnect()
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

function errorOf({ code, message }: SerializedError): HarnessError {
  return new HarnessError(code ?? 'worker-failed', message.split('\n'))
}
