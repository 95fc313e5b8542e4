import { type JsonObject, jsonObjectSchema, WireError } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'

/** A row of a task list, sent back or written by hand: what to open, and the texts that the player reads first. */
export type TaskRow = z.infer<typeof taskRowSchema>
/** Strict, because a misspelt `params` would play the defaults, and nobody would notice. */
const taskRowSchema = z.strictObject({
  environment: z.string().nullish(),
  prompt: z.string().nullish(),
  hints: z.array(z.string()).nullish(),
  params: jsonObjectSchema.nullish(),
  seed: z.union([z.string(), z.number(), z.boolean()]).nullish(),
  limits: jsonObjectSchema.nullish(),
  // The rest of a row says nothing about how it is played.
  id: z.unknown().optional(),
  difficulty: z.unknown().optional(),
  split: z.unknown().optional(),
  tags: z.unknown().optional(),
  metadata: z.unknown().optional(),
})

/** The body of `/create`: a row, or the place of one in a split. */
export type CreateRequest = z.infer<typeof createRequestSchema>
const createRequestSchema = z
  .strictObject({
    env_name: z.string().nullish(),
    task_spec: taskRowSchema.nullish(),
    split: z.string().nullish(),
    index: z.int().nullish(),
    toolset_name: z.string().nullish(),
  })
  .refine(
    ({ task_spec, split, index }) =>
      isGiven(task_spec) ? !isGiven(split) && !isGiven(index) : isGiven(split) && isGiven(index),
    'Give either task_spec, or both split and index.',
  )

/** The body of `/{environment}/call`. With `task_id` it asks for the answer of a call that was sent before. */
export type CallRequest = z.infer<typeof callRequestSchema>
const callRequestSchema = z.strictObject({
  name: z.string(),
  input: jsonObjectSchema,
  task_id: z.string().nullish(),
})

export function parseCreateRequest(body: JsonObject): CreateRequest {
  return parse(createRequestSchema, body)
}

export function parseCallRequest(body: JsonObject): CallRequest {
  return parse(callRequestSchema, body)
}

function parse<T>(schema: z.ZodType<T>, body: JsonObject): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new WireError('invalid-params', `Wrong body: ${formatZodError(parsed.error, body)}.`)
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
