import type { Step } from '@episodic/protocol'
import type { SeatView } from '@episodic/protocol/internal'
import { reportedStep } from '../session/step-result.ts'
import type { SeatStep } from './game.ts'

/** Returns a seat's own last step as its policy sees it: with the reward since, by the steps of others. */
export function ownStepOf(
  { report, replayed }: { readonly report: Omit<SeatStep['report'], 'revision'>; readonly replayed: boolean },
  { observation, due }: SeatView,
): Step {
  // Events may say something to other seats alone.
  const { events: _, ...own } = report
  const terms = { ...own.terms }
  for (const [term, value] of Object.entries(due)) terms[term] = (terms[term] ?? 0) + value
  const total = Object.values(terms).reduce((sum, term) => sum + term, 0)
  return reportedStep({ observation, report: own, replayed }, terms, total)
}
