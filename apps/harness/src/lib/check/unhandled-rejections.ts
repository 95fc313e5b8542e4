import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Finding } from './finding.ts'

/** The promise rejections that stay unhandled while something runs. */
export interface UnhandledRejections extends Disposable {
  /** One finding for each message. Waits until Node has reported all promises that are rejected by now. */
  findings(again: string): Promise<Finding[]>
}

/** Collects unhandled rejections until disposed. Otherwise a world that leaves one would end the process. */
export function watchUnhandledRejections(): UnhandledRejections {
  const messages = new Set<string>()
  const note = (reason: unknown) => void messages.add(reason instanceof Error ? reason.message : String(reason))
  process.on('unhandledRejection', note)
  return {
    async findings(again) {
      // Node reports them between two turns of the event loop.
      await nextTurn()
      return [...messages].map((message) => ({
        name: 'rejection-unhandled',
        what: `A promise rejection was not handled: ${message}`,
        again,
        advice: 'Await every promise or catch its rejection, and start none in the rules: they are synchronous.',
      }))
    },
    [Symbol.dispose]: () => void process.off('unhandledRejection', note),
  }
}
