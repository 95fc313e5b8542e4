import type { Json, JsonObject } from '@episodic/protocol'
import type { ResourceInText } from '@episodic/protocol/internal'
import { formatZodError, isObject } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { rulesFailed } from '../../server-error.ts'
import { findUndeclared } from '../definition/declared-action.ts'
import type { EnvironmentDefinition, Preparation, Refused, Said, Tool } from '../definition/environment.ts'
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
    throw rulesFailed(
      `Tool ${tool} of ${name} prepares its steps, and this one comes with nothing prepared. Hand \`prepared\` to it.`,
    )
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw rulesFailed(`What was prepared for ${tool} of ${name} is wrong: ${formatZodError(parsed.error)}.`)
}

/** Throws `rules-failed` for an answer that was not made by `say`, and for data of a tool that declares no output. */
export function assertSaid(
  { name }: EnvironmentDefinition,
  tool: string,
  { output }: Pick<Tool, 'output'>,
  answer: Partial<Said<unknown> | Refused> | null | undefined,
): asserts answer is Said<unknown> {
  if (typeof answer?.text !== 'string' || answer.kind !== 'said')
    throw rulesFailed(`Tool ${tool} of ${name} returned no answer. Return say(…) or refuse(…).`)
  if (!output && answer.text === '' && isObject((answer as Said<unknown>).data))
    throw rulesFailed(
      `Tool ${tool} of ${name} answers with data alone, and declares no output. Declare its \`output\`, or say a text.`,
    )
}

/** Whether the rules refused the action. */
export function isRefused(answer: unknown): answer is Refused {
  const { kind, text } = (answer ?? {}) as Partial<Refused>
  return kind === 'refused' && typeof text === 'string'
}

/** Returns an answer whose text has resources of MCP in it. For environments that are made of other servers. */
export function sayResources<Data>(
  text: string,
  data: Data,
  resources: readonly ResourceInText[] | undefined,
): Said<Data> {
  return { kind: 'said', text, data, ...(resources && { resources }) }
}

/** Returns the structured answer as its schema parses it, so without undeclared keys. Throws `rules-failed`. */
export function structuredAnswer(
  environment: EnvironmentDefinition,
  name: string,
  schema: z.ZodType,
  given: unknown,
  checks: PlayChecks | undefined,
): { readonly data: JsonObject; readonly undeclared: string | undefined } {
  const parsed = schema.safeParse(given)
  if (!parsed.success)
    throw rulesFailed(`Tool ${name} of ${environment.name} gave a wrong answer: ${formatZodError(parsed.error)}.`)
  const undeclared = checks?.strict && findUndeclared(given, parsed.data)
  if (undeclared)
    throw rulesFailed(
      `Tool ${name} of ${environment.name} says "${undeclared}", which its output does not declare. Declare it, or leave it out.`,
    )
  const data = parsed.data as JsonObject
  return { data, undeclared: findUndeclaredKey(given, data) }
}

/** Returns the first key of `given` that is not in `kept`, at the top level only: cheap enough for every step. */
function findUndeclaredKey(given: unknown, kept: object): string | undefined {
  for (const key in given as object) if (!Object.hasOwn(kept, key)) return key
  return undefined
}
