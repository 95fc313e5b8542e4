import { isDeepStrictEqual } from 'node:util'
import type { Tally } from './report.ts'

/** Compares a value with the one that it has to be. */
export type Check = (what: string, got: unknown, wanted: unknown) => void

/** One run of a client against a server of its own. */
export interface Part {
  readonly name: string
  play(check: Check): Promise<void>
}

/**
 * Plays the parts of a client side by side, since they wait most of the time. Says how each came out, in their order,
 * and resolves with the sum.
 */
export async function checkParts(client: string, parts: readonly Part[], say: (line: string) => void): Promise<Tally> {
  const played = await Promise.all(
    parts.map(async ({ name, play }) => {
      const problems: string[] = []
      let held = 0
      await play((what, got, wanted) => {
        if (isDeepStrictEqual(got, wanted)) held += 1
        else problems.push(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`)
      })
      return { name, held, problems }
    }),
  )
  let [passed, failed] = [0, 0]
  for (const { name, held, problems } of played) {
    passed += held
    failed += problems.length
    say(`${problems.length === 0 ? '✓' : '✗'} ${client}: ${name} (${held} checks)`)
    for (const problem of problems) console.error(`  ${problem}`)
  }
  return { passed, failed }
}
