import type { EmbeddedRuns } from '@episodic/report'
import { renderToString } from 'preact-render-to-string'

/** Renders the figures of the first run, which can then be read without JavaScript. */
export function renderMarkup({ runs }: EmbeddedRuns): string {
  const [run] = runs
  return run ? renderToString(<h1>{run.detail.entry.name}</h1>) : ''
}
