import type { EpisodeRecord } from '@episodic/protocol'
import { completionsOf, countUnpriced } from '@episodic/report/fold/completions'
import { formatCost } from '@episodic/report/text/format'
import { type ProgressStream, showLine } from '@episodic/run/base/progress-line'
import { createColors } from 'picocolors'

export interface Progress {
  add(record: EpisodeRecord): void
  /** Counts episodes that were sealed before. */
  skip(episodes: number): void
  /** Writes the last state and ends the line. */
  stop(): void
}

export interface ProgressOptions {
  /** Monotonic milliseconds. Default: those of the machine. */
  readonly now?: () => number
  /** Default: `true`. A mean over several players says nothing. */
  readonly showReturn?: boolean
  /** Says by whom the run is played now. Default: it is not shown. */
  readonly describe?: (() => string) | undefined
  /** Says how far each of several players is, also at the end. Default: it is not shown. */
  readonly players?: (() => readonly string[]) | undefined
}

const BAR_WIDTH = 24
const MIN_BAR = 6
const GAP = '  '

/**
 * Shows the progress of a run: one line that is redrawn on a terminal, and plain lines elsewhere. The return is the
 * unshaped one, as in the summary, with its 95 % interval as if all episodes were independent.
 *
 * @param done - episodes that were sealed before this start of the run.
 */
export function showProgress(
  stream: ProgressStream,
  total: number,
  done: number,
  { now = () => performance.now(), showReturn = true, describe, players = () => [] }: ProgressOptions = {},
): Progress {
  const { green, dim, red } = createColors(stream.isTTY === true && !process.env.NO_COLOR)
  const began = now()
  let [finished, failed, cost, unpriced] = [0, 0, 0, 0]
  // Welford's running mean and sum of squares (Knuth, TAOCP 2, 4.2.2).
  let [mean, squares] = [0, 0]

  const formatLine = (room: number | null, last: boolean): string => {
    const played = finished + failed
    const rate = (played * 1_000) / Math.max(now() - began, 1)
    const left = total - done - played
    const share = total > 0 ? (done + played) / total : 1
    const half = finished > 1 ? 1.96 * Math.sqrt(squares / (finished - 1) / finished) : 0
    const failures = `${failed} failed`
    const parts = [
      `${done + played}/${total}`,
      ...(failed > 0 ? [failures] : []),
      ...(showReturn && finished > 0 ? [`return ${mean.toFixed(3)} ± ${half.toFixed(3)}`] : []),
      `${rate.toFixed(rate < 10 ? 1 : 0)} episodes/s`,
      ...(last || !describe ? [] : [describe()]),
      ...(cost === 0 ? [] : [`cost ${unpriced > 0 ? '≥ ' : ''}${formatCost(cost)}`]),
      ...(last || left <= 0 ? [] : [`${formatSeconds(left / rate)} left`]),
      ...players(),
    ]
    if (room === null) return [`${Math.floor(share * 100)} %`, ...parts].join(GAP)
    // The last parts are dropped first, and the bar takes the rest of the line.
    while (parts.length > 1 && parts.join(GAP).length > room) parts.pop()
    const width = Math.min(BAR_WIDTH, room - GAP.length - parts.join(GAP).length)
    const filled = Math.round(share * width)
    const bar = width < MIN_BAR ? [] : [green('█'.repeat(filled)) + dim('░'.repeat(width - filled))]
    return [...bar, ...parts.map((part) => (part === failures ? red(part) : part))].join(GAP)
  }
  const line = showLine(stream, formatLine, now)

  return {
    skip(episodes) {
      done += episodes
    },
    add(record) {
      const { returns } = record
      for (const answer of completionsOf(record)) {
        cost += answer.cost ?? 0
        unpriced += countUnpriced(answer)
      }
      if (returns) {
        finished += 1
        const delta = returns.unshaped - mean
        mean += delta / finished
        squares += delta * (returns.unshaped - mean)
      } else failed += 1
      line.update()
    },
    stop: line.stop,
  }
}

function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?'
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
