import type { EpisodeRecord } from '@episodic/protocol'
import { createColors } from 'picocolors'

/** Where progress is written, and whether it is a terminal. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

export interface Progress {
  /** Counts an episode that landed. */
  add(record: EpisodeRecord): void
  /** Writes the last state and ends the line. */
  stop(): void
}

/** Between two drawings, in milliseconds: often where they replace one another, seldom where each is a line of a log. */
const TERMINAL_INTERVAL = 100
const LOG_INTERVAL = 5_000
const BAR_WIDTH = 24

/** Shows how a run gets on: one line that redraws itself on a terminal, plain lines now and then elsewhere. */
export function showProgress(stream: ProgressStream, total: number, done: number): Progress {
  const terminal = stream.isTTY === true
  const colors = createColors(terminal)
  const began = performance.now()
  let finished = 0
  let failed = 0
  let steps = 0
  // Welford's running mean and sum of squares (Knuth, TAOCP 2, 4.2.2).
  let mean = 0
  let squares = 0
  let drawn = began

  const draw = (last: boolean) => {
    const seconds = (performance.now() - began) / 1_000
    const played = finished + failed
    const rate = played / Math.max(seconds, 0.001)
    const left = total - done - played
    const share = total > 0 ? (done + played) / total : 1
    const filled = Math.round(share * BAR_WIDTH)
    const bar = `${colors.green('█'.repeat(filled))}${colors.dim('░'.repeat(BAR_WIDTH - filled))}`
    const half = finished > 1 ? 1.96 * Math.sqrt(squares / (finished - 1) / finished) : 0
    const parts = [
      terminal ? bar : `${Math.floor(share * 100)} %`,
      `${done + played}/${total}`,
      ...(failed > 0 ? [colors.red(`${failed} failed`)] : []),
      ...(finished > 0 ? [`return ${mean.toFixed(3)} ± ${half.toFixed(3)}`] : []),
      `${rate.toFixed(0)} episodes/s`,
      `${(steps / Math.max(seconds, 0.001)).toFixed(0)} steps/s`,
      ...(last || left <= 0 ? [] : [`${formatSeconds(left / rate)} left`]),
    ]
    const line = parts.join('  ')
    stream.write(terminal ? `\r\x1b[2K${line}${last ? '\n' : ''}` : `${line}\n`)
  }

  return {
    add(record) {
      steps += record.steps.length
      if (record.returns) {
        finished += 1
        const delta = record.returns.total - mean
        mean += delta / finished
        squares += delta * (record.returns.total - mean)
      } else failed += 1
      const now = performance.now()
      if (now - drawn < (terminal ? TERMINAL_INTERVAL : LOG_INTERVAL)) return
      drawn = now
      draw(false)
    },
    stop: () => draw(true),
  }
}

function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?'
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
