import type { ProgressStream } from '../run/progress.ts'
import type { ReplaySummary } from './replay-run.ts'

/** Milliseconds between two lines, and before the first: a short replay needs none. */
const INTERVAL = 2_000

/** Tells now and then how far a replay has come. The result is called with each episode. */
export function tellProgress(stream: ProgressStream): (done: Pick<ReplaySummary, 'episodes' | 'diverged'>) => void {
  const began = performance.now()
  let told = began
  return ({ episodes, diverged }) => {
    const now = performance.now()
    if (now - told < INTERVAL) return
    told = now
    const rate = Math.round((episodes * 1_000) / (now - began))
    stream.write(`${episodes} episodes replayed, ${diverged} diverged, ${rate} episodes/s\n`)
  }
}
