import type { RunEntry, StaticRuns } from '@episodic/report'
import type { Route } from './route.ts'

/** What a file or a folder shows first: its comparison, its only run, or the list of its runs. */
export function homeOf({
  runs,
  compared: [compared],
}: Pick<StaticRuns, 'compared'> & { readonly runs: readonly Pick<RunEntry, 'id'>[] }): Route {
  if (compared) return { screen: 'compare', runs: compared.runs, base: compared.baseline }
  const [run, ...others] = runs
  if (run && others.length === 0) return { screen: 'run', run: run.id, tab: 'overview' }
  return { screen: 'runs', query: '' }
}
