import type { Summary } from '@episodic/report/fold/summary'
import { formatRefused } from '@episodic/report/notes/run-notes'
import { formatCount } from '@episodic/report/text/format'
import { Key } from '../parts/key.tsx'
import { pixels } from '../parts/plots/scale.ts'

export function Account({ summary: { counts, success, ends } }: { readonly summary: Summary }) {
  const cut = ends.truncated.reduce((sum, { count }) => sum + count, 0)
  const truncated = cut - success.truncated
  const parts = [
    ['good', 'succeeded', success.overall.successes],
    ['fell-short', 'terminated without success', counts.finished - truncated - success.overall.successes],
    ['truncated', success.truncated > 0 ? 'truncated without success' : 'truncated', truncated],
    ['bad', 'failed (not scored)', counts.failed],
    ['pending', 'unresolved', counts.unresolved],
  ] as const
  const shown = parts.filter(([, , count]) => count > 0)
  let at = 0
  const bar = shown.map(([kind, name, count]) => {
    const width = (count / Math.max(1, counts.scheduled)) * 1_000
    at += width
    return { kind, name, count, from: at - width, width }
  })
  return (
    <section class="account block" aria-label="Scheduled episodes">
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {bar.map(({ kind, name, count, from, width }) => (
          <rect key={name} class={kind} x={pixels(from)} y={0} width={pixels(width)} height={10}>
            <title>{`${name}: ${formatCount(count)}`}</title>
          </rect>
        ))}
      </svg>
      <ul class="legend flow">
        <li>
          <b>{formatCount(counts.scheduled)}</b> scheduled
        </li>
        {bar.map(({ kind, name, count }) => (
          <Key key={name} of={kind}>
            <b>{formatCount(count)}</b> {name}
          </Key>
        ))}
        {counts.refused > 0 && (
          <li>
            <b>{formatCount(counts.refused)}</b> refused steps {formatRefused(counts)}
          </li>
        )}
      </ul>
    </section>
  )
}
