import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { EmbeddedRun } from '@episodic/report/view/embedded-runs'
import { HarnessError } from '@episodic/run/base/harness-error'
import { scrubbed, WITHHELD } from '@episodic/run/folder/scrub'
import { flippedIn, rowsByTask, withRows } from '../../file/compare-page.ts'
import { compareFolders } from '../folder/compare-folders.ts'
import { type BundleOptions, type SharedRun, sharedName } from './shared-run.ts'

/**
 * Compares the runs of each group. `without` says in sentences which groups cannot be compared.
 *
 * Rejects with `runs-differ` if none can.
 */
export async function compareShared({ runs, compared, withhold, onProblem }: BundleOptions) {
  const results: ComparedRuns[] = []
  const without: string[] = []
  const problems: string[] = []
  let last: unknown = null
  for (const ids of compared) {
    const group = ids.flatMap((id) => runs.find((run) => run.id === id) ?? [])
    const world = group[0]?.manifest.configuration.environment.name ?? ''
    try {
      const result = await compareFolders({ runs: group })
      results.push(result)
      for (const { name, why } of result.leftOut) problems.push(`${world}: ${name} is not compared. ${why}`)
    } catch (error) {
      if (!HarnessError.is(error, 'runs-differ')) throw error
      last = error
      const why = error.message.replace(/\s+/g, ' ')
      problems.push(`${world} is not compared. ${why}`)
      without.push(`The runs of ${world} are not compared. ${withhold.length > 0 ? WITHHELD : why}`)
    }
  }
  if (results.length === 0 && last !== null) throw last
  for (const problem of problems) onProblem(problem)
  return { compared: results, flipped: flippedIn(results), without }
}

/** Returns a comparison with the rows of the runs that are shared, and without what is withheld. */
export function shareComparison(
  compared: ComparedRuns,
  { runs, withhold }: BundleOptions,
  shared: readonly { readonly own: SharedRun; readonly run: EmbeddedRun }[],
): ComparedRuns {
  const byId = new Map(shared.map(({ own, run }) => [own.found.id, run]))
  const whole = withRows(compared, compared.runs.flatMap((id) => byId.get(id) ?? []).map(rowsByTask))
  const scrub = (one: ComparedRuns) => shared.reduce((left, { own }) => scrubbed(left, own.scrub), one)
  if (withhold.length === 0) return scrub(whole)
  const withholdsSeeds = withhold.includes('seeds')
  const names = new Map(withholdsSeeds ? runs.map((run) => [run.manifest.name, sharedName(run, withhold)]) : [])
  return scrub(
    JSON.parse(JSON.stringify(whole), (key, value) => {
      // Why a run is left out may quote a seed, or what a model was sent.
      if (key === 'why') return WITHHELD
      if (typeof value === 'string') return names.get(value) ?? value
      // A setting in which two runs differ.
      return withholdsSeeds && value?.key === 'seed' ? { key: 'seed', a: WITHHELD, b: WITHHELD } : value
    }),
  )
}
