import { z } from 'zod'
import type { EpisodeEnd } from './end-reasons.ts'
import { episodeEndSchema } from './episode-end.ts'
import { type JsonObject, jsonObjectSchema } from './json.ts'

/** An event from outside that is applied to a session. */
export interface OutsideEvent {
  /** Chosen by the publisher, and the same when it publishes again: an event is applied once. */
  readonly id: string
  /** One of the types that the environment declares. */
  readonly type: string
  readonly data: JsonObject
}

/** An event as an episode records it, with its effect. */
export interface RecordedEvent extends OutsideEvent {
  /** The text that players receive; `null` for none. */
  readonly said: string | null
  /** The end of the episode that it caused; `null` if the episode went on. */
  readonly end: EpisodeEnd | null
  /**
   * `true` if it was applied to the episode that this one was forked from, and so before new random streams were
   * started, if they were. Left out otherwise.
   */
  readonly inherited?: true | undefined
}

/** An event that was applied to a session. */
export interface AppliedEvent extends Omit<RecordedEvent, 'inherited'> {
  /**
   * Of the session, this commit included; 0 in a fork, or a session restored from a snapshot, that started after it.
   */
  readonly revision: number
}

/** An event that a tool published as part of its step. */
export interface PublishedEvent extends Pick<RecordedEvent, 'type' | 'data' | 'said'> {}

const event = { id: z.string().min(1).max(128), type: z.string().min(1).max(128), data: jsonObjectSchema }
const applied = {
  ...event,
  said: z.string().nullable(),
  end: episodeEndSchema.nullable(),
  revision: z.int().min(0),
}

export const appliedEventSchema: z.ZodType<AppliedEvent> = z.object(applied)
export const publishedEventSchema: z.ZodType<PublishedEvent> = z
  .object(applied)
  .pick({ type: true, data: true, said: true })
export const recordedEventSchema: z.ZodType<RecordedEvent> = z
  .object({ ...applied, inherited: z.literal(true).optional() })
  .omit({ revision: true })

/** What is kept of an event after players have received it, so that it is recognised if it is published again. */
interface KnownEvent {
  readonly id: string
  /** The beginning of a {@link contentId} of its type and data. */
  readonly content: string
  readonly revision: number
  readonly end: EpisodeEnd | null
}

/** The outside events that a session keeps. Both lists are bounded, oldest first. */
export interface OutsideHistory {
  /** Events since the last answered step, which the next one reports. */
  readonly pending: readonly AppliedEvent[]
  /** The last events, so that none of them is applied twice. */
  readonly known: readonly KnownEvent[]
}
export const outsideHistorySchema: z.ZodType<OutsideHistory> = z.strictObject({
  pending: z.array(z.strictObject(applied)),
  known: z.array(
    z.strictObject({
      id: event.id,
      content: z.string(),
      revision: z.int().min(0),
      end: episodeEndSchema.nullable(),
    }),
  ),
})

/** Parameters of `environment/publish`. */
export const publishParamsSchema = z.strictObject({
  session: z.string(),
  ...event,
  data: event.data.default({}),
  _meta: z.unknown().optional(),
})

/** Result of `environment/publish`. Publishing an event again returns the same except for `delivered`. */
export interface PublishResult {
  /** The session's revision after the event. */
  readonly revision: number
  /** The end of the episode that it caused; `null` if the episode went on. */
  readonly end: EpisodeEnd | null
  /** `before` if this event had been applied already, so that nothing was done now. */
  readonly delivered: 'now' | 'before'
}
export const publishResultSchema: z.ZodType<PublishResult> = z.object({
  revision: z.int().min(0),
  end: episodeEndSchema.nullable(),
  delivered: z.enum(['now', 'before']),
})
