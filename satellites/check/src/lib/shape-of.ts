import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { z } from 'zod'

/**
 * Returns the kind of field that is at a path of a state, as its schemas say it: in `private.orders.*.address`, the
 * star stands for any order.
 */
export function shapeOf({ state }: Pick<EnvironmentDefinition, 'state'>, [part, ...path]: readonly string[]): string {
  const [schema, own, rest] =
    part === 'own'
      ? [state.own ?? undefined, path.slice(0, 1), path.slice(1)]
      : [state[part as 'public' | 'private'], [], path]
  const kinds: string[] = []
  let at: z.core.$ZodType | undefined = schema
  for (const key of rest) {
    const next = at && inside(at, key)
    kinds.push(next?.isAny || /^\d+$/.test(key) ? '*' : key)
    at = next?.schema
  }
  return [part, ...own, ...kinds].join('.')
}

function inside(
  schema: z.core.$ZodType,
  key: string,
): { readonly schema: z.core.$ZodType | undefined; readonly isAny: boolean } | null {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return Object.hasOwn(def.shape, key)
        ? { schema: def.shape[key], isAny: false }
        : { schema: def.catchall, isAny: true }
    case 'record':
      return { schema: def.valueType, isAny: true }
    case 'array':
      return { schema: def.element, isAny: true }
    case 'optional':
    case 'nullable':
    case 'default':
    case 'nonoptional':
    case 'readonly':
      return inside(def.innerType, key)
    case 'lazy':
      return inside(def.getter(), key)
    default:
      return null
  }
}
