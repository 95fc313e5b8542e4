import type { EventEmitter } from 'node:events'

/** Resolves when a stream that is full has room again, or never will. */
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
