import { type Policy, randomPolicy } from '@episodic/env'

const random = randomPolicy()
let started = 0
let notify: ((started: number) => void) | null = null

/** Makes {@link policy} call `notify` whenever it starts an episode, with how many it has started since. */
export function onStart(listener: (started: number) => void): void {
  started = 0
  notify = listener
}

/** Plays at random, in this process. A run names this file as its policy. */
export const policy: Policy = {
  name: 'timed-random',
  start(context) {
    notify?.(++started)
    return random.start(context)
  },
}
