import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Environment, ResetResult, StepResult } from '@episodic/env'
import { request } from 'undici'

/** How often a client of the usual kind tries again, and how many milliseconds it waits before. */
const [ATTEMPTS, PAUSE] = [1_200, 100]

/** What an episode is for a learner that takes a failure for a reward of 0: over, with nothing earned. */
const FAILED: StepResult = {
  observation: { text: '', structured: { position: 0 } },
  reward: { total: 0, terms: { goal: 0 }, shaping: 0 },
  end: { kind: 'terminated', reason: 'error' },
  info: { seq: 0, potential: 0, refused: null, stateHash: '', replayed: false },
  terminated: true,
  truncated: false,
}

/**
 * Creates an environment of a client of the usual kind: it tries again what got no reply, without a key by which a
 * server could know that it has done it, and takes an error for the end of an episode with a reward of 0.
 */
export function createNaiveEnvironment(
  url: string,
  counts: { failures: number; retries: number },
): Pick<Environment, 'reset' | 'step' | 'close'> {
  let session = ''
  const ask = async <Result>(body: object): Promise<Result | null> => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        const response = await request(url, { method: 'POST', body: JSON.stringify(body) })
        const text = await response.body.text()
        if (response.statusCode === 200) return JSON.parse(text) as Result
        break
      } catch {
        counts.retries += 1
        await pause(PAUSE)
      }
    }
    counts.failures += 1
    return null
  }
  return {
    async reset(task, options) {
      session = randomUUID()
      const started = await ask<ResetResult>({ method: 'reset', session, seed: options?.seed ?? task?.seed })
      if (!started) throw new Error('The server could not be reached.')
      return started
    },
    async step(action) {
      return (await ask<StepResult>({ method: 'step', session, action })) ?? FAILED
    },
    async close() {},
  }
}
