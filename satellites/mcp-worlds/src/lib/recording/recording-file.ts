import { jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { toolAnswerShape } from '../servers/call-tool.ts'
import { madeOfSchema } from './made-of-server.ts'

export const headerSchema = madeOfSchema.extend({
  recording: z.literal(1),
  environment: z.strictObject({ name: z.string(), version: z.string() }),
  volatile: z.array(z.string()),
})
export type RecordingHeader = z.infer<typeof headerSchema>

/** The seeds of the episodes that something was the same in; left out where it is the same in all. */
const seeds = z.array(z.string()).optional()

const taskSchema = z.strictObject({
  prompt: z.string(),
  params: jsonObjectSchema,
  difficulty: z.number(),
  tags: z.array(z.string()),
  seed: z.string(),
  /** What the player saw first. */
  text: z.string(),
  /** The calls after which its players began: 0 for none. */
  starts: z.array(z.strictObject({ after: z.int().min(0), seeds })),
})
export type RecordedTask = z.infer<typeof taskSchema>

/** A call, and the server's answer. Calls are numbered from 1, in the order of their lines. */
const callSchema = z.strictObject({
  /** The number of the call before it: 0 for the first one of a server. */
  after: z.int().min(0),
  call: z.tuple([z.string(), jsonObjectSchema]),
  text: z.string(),
  structured: jsonObjectSchema.nullable(),
  isError: z.boolean(),
  attachments: toolAnswerShape.attachments,
  resources: toolAnswerShape.resources,
  seeds,
})
export type RecordedCallLine = z.infer<typeof callSchema>

const scoreSchema = z.strictObject({
  /** The number of the player's last call. */
  after: z.int().min(0),
  /** The number of the task, from 0, in the order of their lines. */
  task: z.int().min(0),
  answer: z.string().nullable(),
  score: z.number(),
  success: z.boolean(),
  seeds,
})
export type RecordedScore = z.infer<typeof scoreSchema>

export const lineSchema = z.union([callSchema, scoreSchema, z.strictObject({ task: taskSchema })])
