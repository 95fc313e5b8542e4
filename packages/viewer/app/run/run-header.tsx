import { listPlayers } from '@episodic/report/notes/run-notes'
import { formatCount, formatPercent, plural } from '@episodic/report/text/format'
import type { RunDetail } from '@episodic/report/view/run-entry'
import { plain } from '../parts/plain-text.tsx'
import { formatRoute } from '../route/route.ts'

export function RunHeader({ detail: { entry, summary, complete, inFlight } }: { readonly detail: RunDetail }) {
  const { counts, environments } = summary
  const players = listPlayers(summary)
  const sealed = counts.finished + counts.failed
  return (
    <header class="run-header">
      <h1>{plain(entry.name)}</h1>
      <p class="flow muted">
        {entry.state === 'running' && (
          <span class="state running">
            ● live {formatCount(sealed)}/{formatCount(counts.scheduled)}
            {inFlight.length > 0 && ` · ${formatCount(inFlight.length)} in flight`}
          </span>
        )}
        {entry.state === 'stopped' && (
          <span class="state stopped">
            ✕ stopped at {formatCount(sealed)}/{formatCount(counts.scheduled)}
          </span>
        )}
        {!complete && (
          <span class="state">
            counting …{entry.counted !== undefined && ` ${formatPercent(entry.counted)} of its lines`}
          </span>
        )}
        {plain(environments.join(', '))}
        {players.length > 0 && <span>played by {plain(players.join(', '))}</span>}
        <span>
          {plural(counts.scheduled, 'episode')} of {plural(counts.tasks, 'task')}
        </span>
        {entry.createdAt && (
          <time dateTime={entry.createdAt}>{entry.createdAt.slice(0, 16).replace('T', ' ')} UTC</time>
        )}
        <a href={formatRoute({ screen: 'compare', runs: [entry.id], base: '' })}>Compare…</a>
        <a href={formatRoute({ screen: 'label', run: entry.id, grader: '', scale: 'boolean' })}>Label…</a>
      </p>
    </header>
  )
}
