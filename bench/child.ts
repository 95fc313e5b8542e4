import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A server in a process of its own, which ends with this one. */
export interface Child<Ready> extends Disposable {
  /** What it said once it listened. */
  readonly ready: Ready
  /** Asks it something and waits for the answer. */
  ask<Answer>(question: string): Promise<Answer>
}

/** Starts a server. `file` is its path in this folder. */
export async function startChild<Ready>(file: string, ...args: string[]): Promise<Child<Ready>> {
  const child: ChildProcess = fork(join(import.meta.dirname, file), args, { execArgv: ['--expose-gc'] })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code} before it answered.`)
  })
  ended.catch(() => {})
  const next = async <T>(): Promise<T> => {
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message as T
  }
  const ready = await next<Ready>()
  return {
    ready,
    async ask<Answer>(question: string) {
      const answer = next<Answer>()
      child.send(question)
      return answer
    },
    [Symbol.dispose]: () => child.disconnect(),
  }
}
