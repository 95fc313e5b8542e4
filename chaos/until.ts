import { setTimeout as pause } from 'node:timers/promises'

/** Waits until a condition holds, checked every so many milliseconds, which is the only way for another process. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  seconds = 30,
  every = 20,
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited ${seconds} s, in vain, until ${what}.`)
    await pause(every)
  }
}
