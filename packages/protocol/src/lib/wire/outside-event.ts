import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { episodeEndSchema } from './episode-end.ts'

const eventSchema = z.object({
  /** Chosen by the publisher, and the same when it publishes again: an event is applied once. */
  id: z.string().min(1).max(128),
  /** One of the types that the environment declares. */
  type: z.string().min(1).max(128),
  data: jsonObjectSchema,
})
/** An event from outside that is applied to a session. */
export type OutsideEvent = Wire<typeof eventSchema>

export const appliedEventSchema = eventSchema.extend({
  /** The text that players receive; `null` for none. */
  said: z.string().nullable(),
  /** Texts for some of several seats alone. Left out if there were none. */
  sent: z.record(z.string(), z.array(z.string())).optional(),
  /** The end of the episode that it caused; `null` if the episode went on. */
  end: episodeEndSchema.nullable(),
  /** Of the session, this commit included; 0 in a fork, or a session restored from a snapshot, started after it. */
  revision: z.int().min(0),
})
export type AppliedEvent = Wire<typeof appliedEventSchema>

export const publishedEventSchema = appliedEventSchema.pick({ type: true, data: true, said: true, sent: true })
/** An event that a tool published as part of its step. */
export type PublishedEvent = Wire<typeof publishedEventSchema>

export const recordedEventSchema = appliedEventSchema.omit({ revision: true }).extend({
  /**
   * `true` if it was applied to the episode that this one was forked from, and so before new random streams were
   * started, if they were. Left out otherwise.
   */
  inherited: z.literal(true).optional(),
})
/** An event as an episode records it, with its effect. */
export type RecordedEvent = Wire<typeof recordedEventSchema>

/** What is kept of an event after players have received it, so that it is recognised if it is published again. */
const knownEventSchema = z.strictObject({
  id: eventSchema.shape.id,
  /** The beginning of a {@link contentId} of its type and data. */
  content: z.string(),
  revision: z.int().min(0),
  end: episodeEndSchema.nullable(),
})

export const outsideHistorySchema = z.strictObject({
  /** Events since the last answered step, which the next one reports. */
  pending: z.array(appliedEventSchema.strict()),
  /** The last events, so that none of them is applied twice. */
  known: z.array(knownEventSchema),
})
/** The outside events that a session keeps. Both lists are bounded, oldest first. */
export type OutsideHistory = Wire<typeof outsideHistorySchema>

/** The parameters of `environment/publish` beside the session. */
export const publishShape = { ...eventSchema.shape, data: jsonObjectSchema.default({}) }

/** Result of `environment/publish`. Publishing an event again returns the same except for `delivered`. */
export const publishResultSchema = z.object({
  /** The session's revision after the event. */
  revision: z.int().min(0),
  /** The end of the episode that it caused; `null` if the episode went on. */
  end: episodeEndSchema.nullable(),
  /** `before` if this event had been applied already, so that nothing was done now. */
  delivered: z.enum(['now', 'before']),
})
