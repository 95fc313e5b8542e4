import type { Json, JsonObject } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import type { z } from 'zod'
import { ServerError } from '../server-error.ts'
import { findUndeclared } from './declared-action.ts'
import type { EnvironmentDefinition, Preparation } from './environment.ts'
import type { PlayChecks } from './rules-turn.ts'

// What goes into a tool's rules and comes out of them, by its schemas.

/**
 * Returns the prepared input for `play`. It is parsed again, since a replay reads it from a record that may be edited.
 */
export function readPrepared(
  { name }: EnvironmentDefinition,
  tool: string,
  { schema }: Preparation,
  value: Json | undefined,
): unknown {
  if (value === undefined)
    throw new ServerError(
      'rules-failed',
      `Tool ${tool} of ${name} prepares its steps, and this one comes with nothing prepared. Hand \`prepared\` to it.`,
    )
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new ServerError(
    'rules-failed',
    `What was prepared for ${tool} of ${name} is wrong: ${formatZodError(parsed.error)}.`,
  )
}

/** Returns the structured answer as its schema parses it, so without undeclared keys. Throws `rules-failed`. */
export function structuredAnswer(
  environment: EnvironmentDefinition,
  name: string,
  schema: z.ZodType,
  given: unknown,
  scrutiny: PlayChecks | undefined,
): JsonObject {
  const parsed = schema.safeParse(given)
  if (!parsed.success)
    throw new ServerError(
      'rules-failed',
      `Tool ${name} of ${environment.name} gave a wrong answer: ${formatZodError(parsed.error)}.`,
    )
  const undeclared = scrutiny?.strict && findUndeclared(given, parsed.data)
  if (undeclared)
    throw new ServerError(
      'rules-failed',
      `Tool ${name} of ${environment.name} says "${undeclared}", which its output does not declare. Declare it, or leave it out.`,
    )
  return parsed.data as JsonObject
}
