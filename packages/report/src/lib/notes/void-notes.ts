import type { Summary } from '../fold/summary.ts'
import { type VoidBounds, voidBounds } from '../fold/void-bounds.ts'
import { formatCount, formatShareInterval, plural } from '../text/format.ts'

export interface Voids {
  readonly failed: number
  readonly bounds: VoidBounds | null
  readonly retried?: Summary['retried']
}

export function voidsOf({ counts, success, retried }: Pick<Summary, 'counts' | 'success' | 'retried'>): Voids {
  const { finished, failed } = counts
  return { failed, bounds: voidBounds({ successes: success.overall.successes, finished, failed }), retried }
}

export function noteVoids({ failed, bounds, retried }: Voids): string[] {
  return [
    ...(bounds
      ? [
          `${formatCount(failed)} failed and not in the rate: success lies in ${formatShareInterval(bounds)} if they were all lost or all won.`,
        ]
      : []),
    ...(retried
      ? [
          `${plural(retried.episodes, 'failed episode')} ${retried.episodes === 1 ? 'was' : 'were'} played again, ${plural(retried.plays, 'time')} in all, and ${formatCount(retried.finished)} finished at last.`,
        ]
      : []),
  ]
}

export function shortVoids({ failed, bounds, retried }: Voids): string[] {
  return [
    ...(bounds ? [`${formatShareInterval(bounds)} with ${formatCount(failed)} failed`] : []),
    ...(retried ? [`${formatCount(retried.episodes)} played again`] : []),
  ]
}

export function shortBounds(group: Readonly<Record<'successes' | 'count' | 'failed', number>>): string {
  return shortVoids({ failed: group.failed, bounds: voidBounds({ ...group, finished: group.count }) }).join()
}

export const VOIDS_LEGEND =
  'Failed episodes are in no rate: beside it stand the rates if they were all lost, and all won.'
