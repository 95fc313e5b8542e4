import type { PlayedStep } from '@episodic/env'
import type { EpisodeRecord, Step } from '@episodic/protocol'
import { attachedData, withData } from './attached-data.ts'
import { answersOf } from './earlier-answers.ts'

/** Returns the first steps of a line as they were played, with the answers of a model that led to them. */
export function playedSteps(record: EpisodeRecord, count: number): PlayedStep[] {
  const answers = answersOf(record)
  const data = attachedData(record)
  let answered = 0
  return record.steps.slice(0, count).map(({ action, observation, reward, completions = [], ...rest }, at) => {
    const { potential, refused, stateHash, events, prepared, milliseconds } = rest
    const info: Step['info'] = {
      ...{ seq: at + 1, potential, refused, stateHash, replayed: false },
      ...(events && { events: events.map((event) => ({ ...event, revision: 0 })) }),
      ...(prepared !== undefined && { prepared }),
    }
    const own = answers.slice(answered, answered + completions.length)
    answered += completions.length
    const went = { action, completions: own, milliseconds: milliseconds ?? 0, observation: withData(observation, data) }
    return { ...went, reward, end: null, info, terminated: false, truncated: false }
  })
}
