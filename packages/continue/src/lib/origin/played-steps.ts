import type { ModelAnswer, PlayedStep } from '@episodic/env'
import { type EpisodeRecord, requestsOf, type Step } from '@episodic/protocol'

/** Returns the first steps of a line as they were played, each answer of a model with what the model was sent. */
export function playedSteps(record: EpisodeRecord, count: number): PlayedStep[] {
  const requests = requestsOf(record)
  let answered = 0
  return record.steps.slice(0, count).map(({ action, observation, reward, completions = [], ...rest }, at) => {
    const { potential, refused, stateHash, events, prepared, milliseconds } = rest
    const info: Step['info'] = {
      ...{ seq: at + 1, potential, refused, stateHash, replayed: false },
      ...(events && { events: events.map((event) => ({ ...event, revision: 0 })) }),
      ...(prepared !== undefined && { prepared }),
    }
    const answers = completions.map((completion): ModelAnswer => {
      const request = requests[answered++]
      return request ? { ...completion, request } : completion
    })
    const went = { action, completions: answers, milliseconds: milliseconds ?? 0 }
    return { observation, reward, end: null, info, terminated: false, truncated: false, ...went }
  })
}
