/** What a benchmark found: `ok` says whether the figure that it stands for holds in this run. */
export interface Figures {
  readonly ok: boolean
  readonly [name: string]: unknown
}

/** Prints the one line that a benchmark ends with, which exits with 1 if a figure misses its bar. */
export function report(name: string, { ok, ...figures }: Figures): void {
  console.log(JSON.stringify({ name, ok, ...figures }))
  if (!ok) process.exitCode = 1
}

/** The middle of a list of numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/**
 * Measures several things in turn, round after round, so that a machine whose speed drifts slows all of them: gives
 * each one's rates, in operations a second. While `isEnough` denies it, up to twice as many rounds are measured, so
 * that a busy machine is not taken for a slow program.
 *
 * @param warmUp - rounds before the first that counts, until the code is compiled. Default: 1.
 */
export async function inTurn<Name extends string>(
  rounds: number,
  measures: Readonly<Record<Name, () => Promise<number> | number>>,
  {
    warmUp = 1,
    isEnough = () => true,
  }: { warmUp?: number; isEnough?(rates: Readonly<Record<Name, readonly number[]>>): boolean } = {},
): Promise<Record<Name, number[]>> {
  const rates = Object.fromEntries(Object.keys(measures).map((name) => [name, [] as number[]])) as Record<
    Name,
    number[]
  >
  for (let round = 1 - warmUp; round <= rounds || (round <= 2 * rounds && !isEnough(rates)); round++)
    for (const name of Object.keys(measures) as Name[]) {
      const rate = await measures[name]()
      console.error(
        `  ${round <= 0 ? 'warm-up' : `round ${round}`}  ${name.padEnd(16)} ${Math.round(rate).toLocaleString('en')}/s`,
      )
      if (round > 0) rates[name].push(rate)
    }
  return rates
}

/** The median over rounds of the ratio of two things measured in the same round. */
export function ratio(of: readonly number[], to: readonly number[]): number {
  return round2(median(of.map((rate, i) => rate / (to[i] as number))))
}

export function round2(value: number): number {
  return Math.round(value * 100) / 100
}

/** Mebibytes of a number of bytes. */
export function mebibytes(bytes: number): number {
  return Math.round((bytes / 1_048_576) * 10) / 10
}

/** Bytes that this process holds after a collection, which needs `--expose-gc`. */
export function heldBytes(): { readonly heap: number; readonly resident: number } {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}
