import { z } from 'zod'

/**
 * Where a schema lets any key through with any value, as `z.looseObject` does, at any depth: its place in the JSON
 * Schema, empty for the top, and `null` where it does nowhere.
 */
export function findOpenObject(schema: z.ZodType): string | null {
  let found: string | null = null
  z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override({ zodSchema: { _zod }, path }) {
      const { def } = _zod
      const others = def.type === 'object' ? def.catchall : def.type === 'record' ? def.valueType : undefined
      if (others && ANYTHING.has(others._zod.def.type)) found ??= path.join('.')
    },
  })
  return found
}

const ANYTHING: ReadonlySet<string> = new Set(['any', 'unknown'])
