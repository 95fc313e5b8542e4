import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Finding } from './finding.ts'

/** What was rejected while something ran, and nobody waited for it. */
export interface FloatingRejections extends Disposable {
  /** One finding for each message, once everything that is rejected by now has been heard of. */
  findings(again: string): Promise<Finding[]>
}

/**
 * Listens for rejections that nobody handles, until it is disposed: a world that leaves one would otherwise end the
 * process, and a server with it.
 */
export function watchRejections(): FloatingRejections {
  const messages = new Set<string>()
  const note = (reason: unknown) => void messages.add(reason instanceof Error ? reason.message : String(reason))
  process.on('unhandledRejection', note)
  return {
    async findings(again) {
      // The process tells of them between two turns of its event loop.
      await nextTurn()
      return [...messages].map((message) => ({
        name: 'rejection-unhandled',
        what: `A promise was rejected and nobody waited for it: ${message}`,
        again,
        advice:
          'Await every promise or give it a catch, and start none in rules: what they do is done when they return.',
      }))
    },
    [Symbol.dispose]: () => void process.off('unhandledRejection', note),
  }
}
