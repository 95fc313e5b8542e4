import type { Action, JsonObject } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import type { z } from 'zod'
import type { EnvironmentDefinition } from './environment.ts'

/**
 * Returns an action without the keys that its tool's schema drops: the rules never see them, so the step log and the
 * history do not keep them. Two actions that differ only in such keys are the same action. For an unknown tool, only
 * the first characters of its name are kept. An action that loses nothing is returned as it is.
 */
export function declaredAction(environment: EnvironmentDefinition, action: Action): Action {
  const tool = Object.hasOwn(environment.tools, action.tool) ? environment.tools[action.tool] : undefined
  if (!tool) return { tool: shorten(action.tool, TOOL_NAME), arguments: {} }
  const kept = declaredPart(tool.input, action.arguments) as JsonObject
  return kept === action.arguments ? action : { tool: action.tool, arguments: kept }
}

/** Characters that are kept of the name of a tool that does not exist: as many as the name of a tool can have. */
const TOOL_NAME = 128

/**
 * Returns the part of a value that a schema declares, before any transform. Reads objects, arrays and records, and the
 * schemas that wrap them; a value of any other schema, for example a union, is kept whole.
 */
function declaredPart(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return isPlain(value) ? declaredKeys(def, value) : value
    case 'array':
      return Array.isArray(value) ? mapped(value, def.element) : value
    case 'record':
      return isPlain(value) ? declaredKeys({ shape: {}, catchall: def.valueType }, value) : value
    case 'lazy':
      return declaredPart(def.getter(), value)
    default:
      return 'innerType' in def ? declaredPart(def.innerType, value) : value
  }
}

type Keys = Pick<z.core.$ZodObjectDef, 'shape' | 'catchall'>

function declaredKeys({ shape, catchall }: Keys, value: Readonly<Record<string, unknown>>): unknown {
  const keys = Object.keys(value)
  let kept: [key: string, part: unknown][] | null = null
  for (const [i, key] of keys.entries()) {
    const schema = Object.hasOwn(shape, key) ? shape[key] : catchall
    const part = schema && declaredPart(schema, value[key])
    if (!schema || part !== value[key]) kept ??= keys.slice(0, i).map((before) => [before, value[before]])
    if (schema) kept?.push([key, part])
  }
  // Defines every key: an assignment to `__proto__` would set the prototype instead.
  return kept ? Object.fromEntries(kept) : value
}

function mapped(values: readonly unknown[], element: z.core.$ZodType): unknown {
  const kept = values.map((value) => declaredPart(element, value))
  return kept.every((value, i) => Object.is(value, values[i])) ? values : kept
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  return !Array.isArray(value)
}

/** Returns the path of the first key in `given` that a schema dropped to make `kept`. `null` if there is none. */
export function findUndeclared(given: unknown, kept: unknown, path = ''): string | null {
  if (typeof given !== 'object' || given === null || typeof kept !== 'object' || kept === null) return null
  for (const [key, value] of Object.entries(given)) {
    const place = path === '' ? key : `${path}.${key}`
    if (!Object.hasOwn(kept, key)) return place
    const found = findUndeclared(value, (kept as Record<string, unknown>)[key], place)
    if (found !== null) return found
  }
  return null
}
