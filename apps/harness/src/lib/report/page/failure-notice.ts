import type { Summary } from '../fold/summary.ts'
import { formatCount, formatPercent } from '../plots/figures.ts'

/** The share of failed episodes up to which the figures still tell of the run as a whole. */
const TOLERATED = 0.05

/**
 * Says that so many sealed episodes failed that what is told of the others may mislead: a world that fails wherever it is
 * lost has no failures to its name. `null` for a run of which at most one episode in twenty failed.
 */
export function noteFailures({ counts: { finished, failed } }: Pick<Summary, 'counts'>): string | null {
  const sealed = finished + failed
  if (failed <= TOLERATED * sealed) return null
  const share = `${formatCount(failed)} of ${formatCount(sealed)} sealed episodes failed (${formatPercent(failed / sealed)})`
  return finished > 0
    ? `${share}. Success and return are of the other ${formatCount(finished)} alone.`
    : `${share}. There is no success and no return to tell of.`
}
