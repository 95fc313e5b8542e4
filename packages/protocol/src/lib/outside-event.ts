import { z } from 'zod'
import { type EpisodeEnd, episodeEndSchema } from './episode-end.ts'
import { type JsonObject, jsonObjectSchema } from './json.ts'

/** Something that happened outside, for a session to take note of. */
export interface OutsideEvent {
  /** Made by whoever publishes, and the same whenever it is published again: an event is applied once. */
  readonly id: string
  /** One of the types that the environment declares. */
  readonly type: string
  readonly data: JsonObject
}

/** An event as an episode keeps it: what it was, and what the world made of it. */
export interface RecordedEvent extends OutsideEvent {
  /** What players are told of it; `null` where it tells nothing. */
  readonly said: string | null
  /** The end that it made; `null` where the episode went on. */
  readonly end: EpisodeEnd | null
  /**
   * `true` where it happened to what the episode was forked from, and so before its chance began anew, where it did. Left out
   * for everything else.
   */
  readonly inherited?: true | undefined
}

/** An event that a session has applied. */
export interface AppliedEvent extends Omit<RecordedEvent, 'inherited'> {
  /** Of the session, this commit included; 0 where the session began after it, in a fork or from a snapshot. */
  readonly revision: number
}

/** An event that a tool of the world published, and so a part of its step. */
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

/** An event that a session knows again, though what it was is told and gone. */
export interface KnownEvent {
  readonly id: string
  /** The beginning of a {@link contentId} of its type and data. */
  readonly content: string
  readonly revision: number
  readonly end: EpisodeEnd | null
}

/** What a session keeps of what happened outside. Both lists are bounded, oldest first. */
export interface OutsideHistory {
  /** Events since the last answered step: the next one tells of them. */
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

/** What `environment/publish` takes. */
export const publishParamsSchema = z.strictObject({
  session: z.string(),
  ...event,
  data: event.data.default({}),
  _meta: z.unknown().optional(),
})

/** What `environment/publish` answers. Publishing an event again gives the same, but for `delivered`. */
export interface PublishResult {
  /** The revision that the event made. */
  readonly revision: number
  /** The end that it made; `null` where the episode went on. */
  readonly end: EpisodeEnd | null
  /** `before` where this event had been applied already, and so nothing was done now. */
  readonly delivered: 'now' | 'before'
}
export const publishResultSchema: z.ZodType<PublishResult> = z.object({
  revision: z.int().min(0),
  end: episodeEndSchema.nullable(),
  delivered: z.enum(['now', 'before']),
})
