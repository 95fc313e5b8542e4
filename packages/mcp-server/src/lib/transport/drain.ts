import type { EventEmitter } from 'node:events'

/** Resolves when a full stream has room again or is closed. */
export function drained(output: EventEmitter & { readonly destroyed: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      output.off('drain', done).off('close', done)
      resolve()
    }
    output.on('drain', done).on('close', done)
    if (output.destroyed) done()
  })
}
