import { type JsonObject, jsonObjectSchema, type Observation, type Refusal } from '@episodic/protocol'
import { episodeEndSchema } from '@episodic/protocol/internal'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import type { ExternalStep } from '../external/external-session.ts'
import type { OpenEnvResult } from './openenv-socket.ts'

/** The answer to a call of a tool, whose `result` is a result of MCP or any JSON. */
const calledSchema = z.object({
  tool_name: z.string(),
  result: z.json().optional(),
  error: z.object({ error_type: z.string(), message: z.string() }).nullish(),
})
const mcpResultSchema = z.object({
  content: z.array(z.looseObject({ text: z.string().optional() })),
  structured_content: jsonObjectSchema.nullish(),
  is_error: z.boolean().nullish(),
})

/**
 * What may come of a call that the server reports as an error. After any other, whether it took effect is not known.
 */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  tool_not_found: 'tool',
  invalid_args: 'arguments',
  execution_error: 'rules',
}

/** Returns the answer to a step. Throws `outcome-unknown` if a tool did not answer in time. */
export function answerOf(result: OpenEnvResult): ExternalStep {
  const { reward, done } = result
  const { end, success } = result.metadata ?? {}
  // The protocol has no truncation, and no success. Servers of Episodic say both in the metadata, and others neither.
  const said = episodeEndSchema.nullable().safeParse(end)
  return {
    ...seenIn(result.observation),
    terms: typeof reward === 'number' ? { reward } : {},
    end: done ? (said.data ?? { kind: 'terminated', reason: 'done' }) : null,
    ...(said.success && typeof success === 'boolean' && { success }),
  }
}

const ownSchema = z.strictObject({ text: z.string(), structured_content: jsonObjectSchema.nullable() })

/**
 * Returns an observation: all of it as structured content. Its text is its field `text` if it says nothing else, or all
 * of it.
 */
export function observationOf(given: JsonObject): Observation {
  const { metadata, ...rest } = given
  // Every observation has metadata, and most have none in it.
  const structured = metadata && Object.keys(metadata).length > 0 ? given : rest
  const own = ownSchema.safeParse(structured)
  if (own.success) return { text: own.data.text, structured: own.data.structured_content }
  const { text, ...more } = structured
  const isText = typeof text === 'string' && Object.values(more).every((value) => value === null)
  return { text: isText ? text : JSON.stringify(structured), structured }
}

function seenIn(observation: JsonObject): Pick<ExternalStep, 'observation' | 'refused'> {
  const called = calledSchema.safeParse(observation)
  if (!called.success) return { observation: observationOf(observation), refused: null }
  const { tool_name: tool, result = null, error } = called.data
  if (error) {
    const refused = REFUSALS[error.error_type]
    if (refused) return { observation: { text: error.message, structured: null }, refused }
    throw new EnvError('outcome-unknown', `${tool} failed in a way that may have changed the state: ${error.message}`)
  }
  const mcp = mcpResultSchema.safeParse(result)
  if (mcp.success) {
    const { content, structured_content: structured = null, is_error: failed } = mcp.data
    const text = content.flatMap((block) => block.text ?? []).join('\n')
    return { observation: { text, structured }, refused: failed ? 'rules' : null }
  }
  const structured = jsonObjectSchema.safeParse(result)
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return { observation: { text, structured: structured.success ? structured.data : null }, refused: null }
}
