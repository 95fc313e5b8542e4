/** How many checks passed, and how many did not. */
export interface Tally {
  readonly passed: number
  readonly failed: number
}

/** What a program has checked, by client, with its version. */
export interface Report {
  readonly clients: Readonly<Record<string, Tally>>
  /** More of the line that ends a run. */
  readonly details?: object
}

/** Plays from the command line. Resolves with what was checked, or with `null` for `--help`, which it has answered. */
export type Program = (args: readonly string[]) => Promise<Report | null>

/** Returns the sum of all clients. */
export function totalOf({ clients }: Report): Tally {
  const tallies = Object.values(clients)
  return {
    passed: tallies.reduce((sum, { passed }) => sum + passed, 0),
    failed: tallies.reduce((sum, { failed }) => sum + failed, 0),
  }
}
