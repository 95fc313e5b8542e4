import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { ServerError } from '../server-error.ts'

/** Throws `definition-invalid` for a name or a version of another form. */
export function assertNamed(name: string, version: string): void {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw invalid(
      name,
      `its name is "${name}", and a name is lower-case words joined by hyphens, such as number-guessing`,
    )
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw invalid(name, `its version is "${version}", and a version is semantic, such as 1.0.0`)
}

/** Throws for a schema that lets undeclared keys through: players must see only what the author declared. */
export function assertClosed(environment: string, what: string, schema: z.ZodType): void {
  const open = findOpenObject(schema)
  if (open !== null)
    throw invalid(
      environment,
      `its ${what} lets through keys that it does not declare${open && ` (${open})`}; use z.object or z.strictObject there`,
    )
}

/**
 * Returns the place in the JSON Schema of the first object that allows any key with any value, as `z.looseObject` does,
 * at any depth. It is empty for the top; `null` if there is no such object.
 */
function findOpenObject(schema: z.ZodType): string | null {
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

/** Returns the JSON Schema of a part of a definition. Throws `definition-invalid` for a type that JSON does not have. */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', what: string): JsonObject {
  try {
    return z.toJSONSchema(schema, { io }) as JsonObject
  } catch (cause) {
    throw new ServerError(
      'definition-invalid',
      `JSON Schema cannot say ${what}: ${(cause as Error).message}. Use types that JSON has.`,
      { cause },
    )
  }
}

/** Returns the error for a definition that cannot be served. */
export function invalid(name: string, why: string): ServerError {
  return new ServerError('definition-invalid', `The environment ${name} cannot be served: ${why}.`)
}
