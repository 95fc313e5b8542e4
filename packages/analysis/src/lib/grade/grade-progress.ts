import { monotonic } from '@episodic/protocol/internal'
import type { ProgressStream } from '@episodic/run/base/console'
import type { GradeProgress } from './grade-run.ts'

/**
 * Milliseconds between updates: few on a terminal, where each replaces the last; many in a log, where each is a line.
 */
const INTERVALS = { terminal: 100, log: 5_000 } as const

export function showGradeProgress(
  stream: ProgressStream,
  grader: string,
): { show(progress: GradeProgress): void; stop(): void } {
  const isTerminal = stream.isTTY === true
  let last: GradeProgress | null = null
  let drawn = monotonic()
  const draw = () => {
    if (!last) return
    const { given, wanted, failed } = last
    const line = `${grader}  ${given}/${wanted} verdicts${failed > 0 ? `, ${failed} failed` : ''}`
    stream.write(isTerminal ? `\r\x1b[2K${line.slice(0, (stream.columns || 80) - 1)}` : `${line}\n`)
    drawn = monotonic()
  }
  return {
    show(progress) {
      last = progress
      if (monotonic() - drawn >= (isTerminal ? INTERVALS.terminal : INTERVALS.log)) draw()
    },
    stop() {
      draw()
      if (isTerminal && last) stream.write('\n')
    },
  }
}
