import type { JsonObject, LegalActions, ToolInfo } from '@episodic/protocol'
import { z } from 'zod'
import { rulesFailed, type ServerError } from '../../server-error.ts'
import type { LegalCalls } from './environment.ts'

/** Returns the legal actions as JSON Schema by tool; `undefined`: all. Throws `rules-failed` for an invalid one. */
export function legalActions(
  environment: string,
  tools: readonly ToolInfo[],
  said: { readonly [tool: string]: LegalCalls | undefined } | undefined,
): LegalActions {
  if (said === undefined) return Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))
  const legal: Record<string, JsonObject> = {}
  for (const [name, calls] of Object.entries(said)) {
    const tool = tools.find((other) => other.name === name)
    if (!tool) throw wrong(environment, `names a tool "${name}" that there is not`)
    if (calls === true) legal[name] = tool.inputSchema
    else if (calls instanceof z.ZodType) legal[name] = z.toJSONSchema(calls, { io: 'input' }) as JsonObject
    else if (!Array.isArray(calls)) throw wrong(environment, `says ${JSON.stringify(calls)} of ${name}`)
    else if (calls.length > 0) legal[name] = { enum: [...calls] }
  }
  return legal
}

function wrong(environment: string, what: string): ServerError {
  return rulesFailed(
    `The legal of ${environment} ${what}. Give true, a list of arguments or a schema for a tool, and leave out those that cannot be called.`,
  )
}
