import { plural } from '@episodic/report/text/format'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import { plain } from '../parts/plain-text.tsx'
import { ComparedTasks, type CompareRoute } from './compared-tasks.tsx'
import { ComparisonView } from './comparison-view.tsx'
import { ContrastsView } from './contrasts-view.tsx'

interface ComparedViewProps {
  readonly compared: ComparedRuns
  /** `null` on paper: without what needs a script. */
  readonly route: CompareRoute | null
}

export function ComparedView({ compared, route }: ComparedViewProps) {
  const { contrasts, comparisons, runs } = compared
  const [comparison] = comparisons
  if (!comparison) return null
  const names = contrasts?.runs.map(({ name }) => name) ?? [comparison.a.name, comparison.b.name]
  const [baseline, other] = runs
  return (
    <div class="run">
      <h1>
        {contrasts ? (
          <>
            {plural(contrasts.contrasts.length, 'run')} against {plain(contrasts.baseline)}
          </>
        ) : (
          <>
            {plain(comparison.b.name)} against {plain(comparison.a.name)}
          </>
        )}
      </h1>
      {contrasts ? (
        <ContrastsView contrasts={contrasts} />
      ) : (
        <ComparisonView
          comparison={comparison}
          runs={route && baseline !== undefined && other !== undefined ? [baseline, other] : null}
        />
      )}
      {route && compared.tasks.length > 0 && <ComparedTasks compared={compared} names={names} route={route} />}
    </div>
  )
}
