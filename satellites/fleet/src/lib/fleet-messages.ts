import { hash } from 'node:crypto'
import { playSettingsSchema } from '@episodic/play/play/run-settings'
import { type SealedRecord, taskSchema } from '@episodic/protocol'
import { HarnessError, type HarnessErrorCode } from '@episodic/run/base/harness-error'
import { configurationSchema } from '@episodic/run/folder/plan/configuration'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { lineOf, readOwnLine } from '@episodic/run/folder/record/own-lines'
import { z } from 'zod'

export const announcementSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  episodic: z.string(),
  configuration: configurationSchema,
  /** How it is played. Who plays it, and what, is in the configuration alone. */
  settings: playSettingsSchema,
  world: z.object({ sha256: z.string() }).nullable(),
})
export type Announcement = z.infer<typeof announcementSchema>

export const jobSchema = z.object({
  task: taskSchema,
  attempt: z.int().min(0),
  try: z.int().min(0),
  curriculum: z.object({ draw: z.int().min(0), stage: z.string().nullable() }).optional(),
})

/**
 * What a worker sends of a job. `answered`: a language model has answered for the first time in it. All others are
 * results: it was played; it could not be, which stops the run; it is left, since too many workers ended while playing
 * it; or what the queue asked for was not written by the coordinator.
 */
export type JobMessage =
  | Exclude<z.infer<typeof headSchema>, { kind: 'played' }>
  | { readonly kind: 'played'; readonly records: readonly SealedRecord[] }

const headSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), policy: z.string() }),
  z.object({ kind: z.literal('played') }),
  z.object({
    kind: z.literal('failed'),
    code: z.custom<HarnessErrorCode>((code) => typeof code === 'string').nullable(),
    message: z.string(),
  }),
  z.object({ kind: z.literal('left'), lost: z.int() }),
  z.object({ kind: z.literal('refused'), why: z.string() }),
])

/**
 * Returns the text of a message: JSON, and after it the lines of the sealed records as they are in `episodes.jsonl`.
 */
export function writeMessage(message: JobMessage): string {
  if (message.kind !== 'played') return JSON.stringify(message)
  return [JSON.stringify({ kind: message.kind }), ...message.records.map(lineOf)].join('\n')
}

export function readMessage(text: string): JobMessage {
  const [head = '', ...lines] = text.split('\n')
  try {
    const message = headSchema.parse(JSON.parse(head))
    return message.kind === 'played' ? { kind: 'played', records: lines.map(readOwnLine) } : message
  } catch (cause) {
    throw new HarnessError('queue-tampered', 'It is no result of a worker.', { cause })
  }
}

/** Returns the id of a job: the same for the same episode, and for each of its tries another one. */
export function jobIdOf({ task, attempt, try: number = 0 }: Omit<PlannedEpisode, 'task'> & { task: { id: string } }) {
  // BullMQ takes no colon and no plain number.
  return `e${hash('sha256', `${task.id}\n${attempt}\n${number}`, 'base64url').slice(0, 24)}`
}

export const signedPlaces = {
  announcement: (run: string) => `run ${run}`,
  life: (run: string) => `life ${run}`,
  job: (run: string, job: string) => `job ${run} ${job}`,
  result: (run: string, job: string) => `result ${run} ${job}`,
}
