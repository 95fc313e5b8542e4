import type { PlayedStep } from '@episodic/env'
import type { EpisodeRecord, Observation, RecordedSeatStep, RecordedStep, SealedRecord } from '@episodic/protocol'
import { answersOf } from './earlier-answers.ts'

/** Returns the first steps of a line as they were played, with the answers of a model that led to them. */
export function playedSteps(record: EpisodeRecord, count: number): PlayedStep[] {
  const answers = answersOf(record).values()
  const whole = wholeObservations(record)
  return record.steps.slice(0, count).map((step, at) => ({
    ...{ action: step.action, observation: whole(step.observation), reward: step.reward, end: null },
    ...{ milliseconds: step.milliseconds ?? 0, completions: answersTo(step, answers) },
    info: { seq: at + 1, stateHash: step.stateHash, replayed: false, ...reportedParts(step) },
    ...{ terminated: false, truncated: false },
  }))
}

/** Returns the next answers of a model, as many as led to a step. */
export function answersTo<Answer>({ completions = [] }: Pick<RecordedStep, 'completions'>, answers?: Iterator<Answer>) {
  return completions.flatMap(() => answers?.next().value ?? [])
}

/** What the report of a step says of itself alone. */
export function reportedParts({ potential, refused, events, prepared }: RecordedStep | RecordedSeatStep) {
  return {
    ...{ potential, refused },
    ...(events && { events: events.map((event) => ({ ...event, revision: 0 })) }),
    ...(prepared !== undefined && { prepared }),
  }
}

/** Returns what fills in pictures and sounds by their hashes: a line has each once, and players saw them each time. */
export function wholeObservations({ steps }: Pick<SealedRecord, 'steps'>) {
  const attached = steps.flatMap(({ observation: { attachments = [] } }) => attachments)
  const known = new Map(attached.flatMap(({ sha256, data }) => (data === undefined ? [] : [[sha256, data] as const])))
  return ({ attachments, ...observation }: Observation): Observation => {
    const whole = attachments?.map(({ data, ...rest }) => ({ ...rest, data: data ?? known.get(rest.sha256) }))
    return whole ? { ...observation, attachments: whole } : observation
  }
}

export function withToolsOf(other: Observation | undefined, { tools: _, ...read }: Observation): Observation {
  return other?.tools ? { ...read, tools: other.tools } : read
}
