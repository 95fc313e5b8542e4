import { decodeColumns } from '@episodic/report/rows/columns-codec'
import type { EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import { renderToString } from 'preact-render-to-string'
import { ComparedView } from './compare/compared-view.tsx'
import { MarkupContext } from './parts/plots/plot-frame.tsx'
import { RunFigures } from './run/run-figures.tsx'

export function renderMarkup({ runs, compared: [compared] }: EmbeddedRuns): string {
  const [run] = runs
  if (compared)
    return renderToString(
      <MarkupContext.Provider value={true}>
        <main>
          <ComparedView compared={compared} route={null} />
        </main>
      </MarkupContext.Provider>,
    )
  if (!run) return ''
  const columns = decodeColumns(Uint8Array.from(atob(run.columns), (character) => character.charCodeAt(0)))
  return renderToString(
    <MarkupContext.Provider value={true}>
      <main>
        <RunFigures detail={run.detail} columns={columns} grades={run.gradeSummary} tab="all" />
        <noscript>
          <p class="nothing">The episodes need JavaScript. The figures do not.</p>
        </noscript>
      </main>
    </MarkupContext.Provider>,
  )
}
