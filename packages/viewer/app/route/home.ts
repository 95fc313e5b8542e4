import type { EmbeddedRuns } from '@episodic/report'
import type { Route } from './route.ts'

/** What a file shows first: its comparison, its only run, or the list of its runs. */
export function homeOf({ runs, compared: [compared] }: EmbeddedRuns): Route {
  if (compared) return { screen: 'compare', runs: compared.runs, base: compared.baseline }
  const [run, ...others] = runs
  if (run && others.length === 0) return { screen: 'run', run: run.detail.entry.id, tab: 'overview' }
  return { screen: 'runs', query: '' }
}
