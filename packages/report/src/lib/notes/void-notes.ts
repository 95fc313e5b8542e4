import { noteUnearned, shortUnearned } from '../cheating/unearned.ts'
import type { Unearned } from '../cheating/unearned-schema.ts'
import type { Summary } from '../fold/summary.ts'
import { type VoidBounds, voidBounds } from '../fold/void-bounds.ts'
import { formatCount, formatShareInterval, plural } from '../text/format.ts'

export interface Voids {
  readonly failed: number
  readonly bounds: VoidBounds | null
  readonly retried?: Summary['retried']
  readonly unearned?: Unearned | undefined
}

export function voidsOf({ counts, success, retried }: Pick<Summary, 'counts' | 'success' | 'retried'>): Voids {
  const bounds = voidBounds({ ...counts, successes: success.overall.successes })
  return { failed: counts.failed, bounds, retried, unearned: success.unearned }
}

/** What stands beside a rate: what is not in it, and what was earned without it. */
export function noteVoids({ failed, bounds, retried, unearned }: Voids): string[] {
  const lost =
    bounds &&
    `${formatCount(failed)} failed and not in the rate: success lies in ${formatShareInterval(bounds)} if they were all lost or all won.`
  const again =
    retried &&
    `${plural(retried.episodes, 'failed episode')} ${retried.episodes === 1 ? 'was' : 'were'} played again, ${plural(retried.plays, 'time')} in all, and ${formatCount(retried.finished)} finished at last.`
  return [lost ?? [], again ?? [], noteUnearned(unearned)].flat()
}

export function shortVoids({ failed, bounds, retried, unearned }: Voids): string[] {
  return [
    ...(bounds ? [`${formatShareInterval(bounds)} with ${formatCount(failed)} failed`] : []),
    ...(retried ? [`${formatCount(retried.episodes)} played again`] : []),
    ...shortUnearned(unearned),
  ]
}

export function shortBounds(group: Readonly<Record<'successes' | 'count' | 'failed', number>>): string {
  return shortVoids({ failed: group.failed, bounds: voidBounds({ ...group, finished: group.count }) }).join()
}

export const VOIDS_LEGEND =
  'Failed episodes are in no rate: beside it stand the rates if they were all lost, and all won.'
