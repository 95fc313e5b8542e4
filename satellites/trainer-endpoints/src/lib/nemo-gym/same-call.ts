import { type Action, canonicalJson, type EnvironmentInfo, type Json, type LoggedStep } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

export type Tools = EnvironmentInfo['tools']

/**
 * Returns whether a call is the one that was played as a step. The step log keeps no argument that the tool does not
 * declare, and nothing but the name of a tool that does not exist: all such calls have the same effect.
 */
export function isSameCall(call: Action, { action, report }: LoggedStep, tools: Tools): boolean {
  const tool = tools.find(({ name }) => name === call.tool)
  if (report.refused === 'tool') return !tool
  return call.tool === action.tool && isDeclaredPart(action.arguments, call.arguments, tool?.inputSchema)
}

/** Whether `kept` is what the log keeps of `given`, by the JSON schema of the tool's input. */
function isDeclaredPart(kept: Json, given: Json, schema: unknown): boolean {
  const { items, properties } = (schema ?? {}) as { readonly items?: unknown; readonly properties?: object }
  if (Array.isArray(kept) && Array.isArray(given))
    return kept.length === given.length && kept.every((item, i) => isDeclaredPart(item, given[i] as Json, items))
  if (!isObject(kept) || !isObject(given)) return canonicalJson(kept) === canonicalJson(given)
  if (Object.keys(kept).some((key) => !Object.hasOwn(given, key))) return false
  const declared = (properties ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(given).every(([key, value]) =>
    Object.hasOwn(kept, key) ? isDeclaredPart(kept[key] as Json, value, declared[key]) : !Object.hasOwn(declared, key),
  )
}
