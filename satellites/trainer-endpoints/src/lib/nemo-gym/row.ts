import { jsonObjectSchema, WireError } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'
import type { EpisodeRequest } from '../episode/open-session.ts'

/** A client that fills in the optional members of a request sends `null` for those that were left out. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? undefined)

const taskSchema = z.strictObject({
  environment: z.string().min(1),
  version: optional(z.string().min(1)),
  params: optional(jsonObjectSchema),
  seed: optional(z.union([z.string(), z.number(), z.boolean()])),
  limits: optional(
    z.strictObject({
      steps: optional(z.int().min(1)),
      seconds: optional(z.number().positive()),
      bytes: optional(z.int().min(1)),
    }),
  ),
})

/** A row as a client sends it. Members that are not listed are the client's own and are kept. */
const rowSchema: z.ZodType<{ readonly episodic: EpisodeRequest }> = z.looseObject({ episodic: taskSchema })

export const namedSeedSchema = z.object({
  resources_session_id: z.string().min(1).max(1_024),
  episode_id: z.object({ rollout_id: z.string().min(1).max(1_024), attempt: z.int().min(0).default(0) }),
  task_data: rowSchema,
})

export const namedCloseSchema = namedSeedSchema.omit({ task_data: true })

/** The part of a model's answer that is played: its `output`, of which other items are of no interest here. */
const responseSchema = z.looseObject({ output: z.array(z.looseObject({})) })

const verifySchema = z.looseObject({
  responses_create_params: z.looseObject({}),
  response: responseSchema.extend({ incomplete_details: z.unknown().optional() }),
})

export const turnSchema = z.looseObject({
  responses_create_params: z.looseObject({}),
  response: responseSchema,
  _ng_step_request_id: z.string().min(1).max(256).nullish(),
})

export function taskOf(row: unknown): EpisodeRequest {
  return parseBody(rowSchema, row).episodic
}

export function responseIn(body: unknown): z.output<typeof verifySchema>['response'] | null {
  const parsed = verifySchema.safeParse(body)
  return parsed.success ? parsed.data.response : null
}

export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new WireError('invalid-params', `This body cannot be used: ${formatZodError(parsed.error, body)}.`)
}
