import { formatCount } from '@episodic/report/text/format'
import { createColors } from 'picocolors'

type Counts = Readonly<Record<'scheduled' | 'finished' | 'failed' | 'unresolved', number>>

export function formatCounts({ scheduled, finished, failed, unresolved }: Counts, color: boolean): string {
  const { dim, green, red, yellow } = createColors(color)
  return [
    `${formatCount(scheduled)} scheduled`,
    green(`${formatCount(finished)} finished`),
    (failed > 0 ? red : dim)(`${formatCount(failed)} failed`),
    (unresolved > 0 ? yellow : dim)(`${formatCount(unresolved)} unresolved`),
  ].join('   ')
}
