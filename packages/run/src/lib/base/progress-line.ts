export interface ProgressStream {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

/**
 * Milliseconds between updates: few on a terminal, where each replaces the last; many in a log, where each is a line.
 */
const INTERVALS = { terminal: 100, log: 5_000 } as const

/**
 * Shows how far a command is: one line that is redrawn on a terminal, and plain lines elsewhere.
 *
 * @param lineOf - returns the line now. It has at most `room` characters, or it could not be redrawn; `null` in a log.
 */
export function showLine(
  stream: ProgressStream,
  lineOf: (room: number | null, isLast: boolean) => string,
  now = () => performance.now(),
): { update(): void; stop(): void } {
  const isTerminal = stream.isTTY === true
  let drawn = now()
  const draw = (isLast: boolean) => {
    drawn = now()
    // A pseudo-terminal of a CI has 0 columns.
    const line = lineOf(isTerminal ? (stream.columns || 80) - 1 : null, isLast)
    stream.write(isTerminal ? `\r\x1b[2K${line}${isLast ? '\n' : ''}` : `${line}\n`)
  }
  return {
    update() {
      if (now() - drawn >= (isTerminal ? INTERVALS.terminal : INTERVALS.log)) draw(false)
    },
    stop: () => draw(true),
  }
}
