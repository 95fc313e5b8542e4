import type { Episode, Match } from '@episodic/env'
import { absenceOf } from '@episodic/mcp-server/internal'
import { stopReasonOf } from '@episodic/protocol/internal'
import type { AgentModels } from '../../worlds/agents/agent-models.ts'
import { attributeAnswers } from '../../worlds/agents/attribute-answers.ts'
import type { Watched } from './watch-agent.ts'

export function withAnswers({ episode, seen }: Watched, models: AgentModels): Episode {
  const attributed = attributeAnswers(models.answers(), seen)
  const steps = episode.steps.map((step, i) => ({ ...step, completions: attributed.steps[i] ?? [] }))
  return { ...episode, steps, undecided: [...(episode.undecided ?? []), ...attributed.undecided] }
}

/**
 * Returns a match with the answers of the models of its agents. Those after the last step of a seat are kept with that
 * step, unless its failure or its stop ended the match.
 */
export function withAnswersOfSeats(match: Match, models: ReadonlyMap<string, AgentModels>): Match {
  let { steps, undecided = [] } = match
  for (const [seat, own] of models) {
    const isOwn = (step: Match['steps'][number]) => step.seat === seat && !absenceOf(step.action)
    const attributed = attributeAnswers(own.answers(), steps.filter(isOwn))
    const left = [...attributed.steps]
    const last = steps.findLast(isOwn)
    const isLast = seatThatEnded(match) === seat
    if (isLast) undecided = attributed.undecided
    steps = steps.map((step) => {
      if (!isOwn(step)) return step
      const completions = left.shift() ?? []
      return {
        ...step,
        completions: step === last && !isLast ? [...completions, ...attributed.undecided] : completions,
      }
    })
  }
  return { ...match, steps, undecided }
}

function seatThatEnded(match: Match): string | null {
  if (match.kind === 'failed') return match.seat
  return Object.keys(match.seats).find((seat) => stopReasonOf(match.seats[seat]?.end ?? null)) ?? null
}
