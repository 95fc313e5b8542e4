import type { Step, StepReport, Terms } from '@episodic/protocol'
import { judgementOf } from '@episodic/protocol/internal'

/** The result of `step`: the step, and its `end` as two booleans, both `false` while the episode goes on. */
export interface StepResult extends Step {
  /** The environment's rules ended the episode. */
  readonly terminated: boolean
  /** A limit of steps or time, or a close, ended the episode. */
  readonly truncated: boolean
}

/** What a server has reported of a step, as its player sees it. */
interface ReportedStep extends Pick<Step, 'observation'> {
  readonly report: Omit<StepReport, 'revision'>
  readonly replayed: boolean
}

export function reportedStep({ observation, report, replayed }: ReportedStep, terms: Terms, total: number): StepResult {
  const { seq, potential, end, refused, stateHash, events, prepared } = report
  const info = { seq, potential, refused, ...(end && judgementOf(report)), stateHash, replayed }
  return stepResultOf({
    observation,
    reward: { total, terms, shaping: 0 },
    end,
    info: { ...info, ...(events && { events }), ...(prepared !== undefined && { prepared }) },
  })
}

export function stepResultOf(step: Step): StepResult {
  return { ...step, terminated: step.end?.kind === 'terminated', truncated: step.end?.kind === 'truncated' }
}
