import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'

/** How the sealed lines of a run differ from those of another run of the same configuration. */
export interface LineDifferences {
  /** Episodes of the other run without a line here. */
  readonly lost: number
  /** Lines of an episode that has a line already. */
  readonly doubled: number
  /** Lines with other bytes, times apart. */
  readonly differing: number
  /** Lines of episodes that the other run does not have. */
  readonly unknown: number
}

/** Compares files of sealed lines, whose order may differ. What a clock measured is not compared. */
export function compareLines(file: string, expected: string): LineDifferences {
  const quiet = new Map(linesOf(expected).map((line) => [toTryKey(line), line]))
  const seen = new Set<string>()
  let [doubled, differing, unknown] = [0, 0, 0]
  for (const line of linesOf(file)) {
    const key = toTryKey(line)
    const other = quiet.get(key)
    if (seen.has(key)) doubled++
    else if (other === undefined) unknown++
    else if (withoutTimes(line) !== withoutTimes(other)) differing++
    seen.add(key)
  }
  return { lost: [...quiet.keys()].filter((key) => !seen.has(key)).length, doubled, differing, unknown }
}

/** Counts the whole lines of a file that another process appends to. */
export class LineCounter {
  readonly #file: string
  readonly #block = Buffer.alloc(1 << 20)
  #read = 0
  #lines = 0

  constructor(file: string) {
    this.#file = file
  }

  /** Reads on from where it was, and returns the number of lines by now. */
  count(): number {
    if (!existsSync(this.#file)) return 0
    const file = openSync(this.#file, 'r')
    try {
      for (;;) {
        const bytes = readSync(file, this.#block, 0, this.#block.length, this.#read)
        const end = this.#block.subarray(0, bytes).lastIndexOf(10) + 1
        if (end === 0) return this.#lines
        for (const byte of this.#block.subarray(0, end)) if (byte === 10) this.#lines++
        this.#read += end
      }
    } finally {
      closeSync(file)
    }
  }
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean)
}

function toTryKey(line: string): string {
  const { task, attempt, try: number } = JSON.parse(line)
  return `${task.id} ${attempt} ${number}`
}

function withoutTimes(line: string): string {
  return JSON.stringify(JSON.parse(line, (key, value) => (TIMES.has(key) ? undefined : value)))
}

/** Keys of what a clock measured, and of the checksum over it. No tool of the world has an argument of these names. */
const TIMES = new Set(['time', 'milliseconds', 'seal'])
