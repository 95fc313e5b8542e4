import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { ServerError } from '../../server-error.ts'

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

/** Returns the place of the first object that allows any key, at any depth; empty: the top; `null`: none. */
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

export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', what: string): JsonObject {
  try {
    return z.toJSONSchema(schema, { io }) as JsonObject
  } catch (cause) {
    const found = findOther(schema, io)
    throw new ServerError(
      'definition-invalid',
      found
        ? `The schema of ${what} has a type that JSON does not have${found.at && `, at ${found.at}`}: ${found.type}. ${INSTEAD[found.type] ?? 'Use types that JSON has.'}`
        : `The schema of ${what} cannot be written as JSON Schema: ${(cause as Error).message}. Use types that JSON has.`,
      { cause },
    )
  }
}

const INSTEAD: Readonly<Record<string, string>> = {
  date: 'Keep a text, z.iso.datetime(), or milliseconds, z.int().',
  bigint: 'Keep a number, z.int(), or a text of digits.',
  map: 'Keep an object, z.record(z.string(), …).',
  set: 'Keep a list, z.array(…).',
  undefined: 'Keep null, z.null(), or make the key optional.',
  void: 'Keep null, z.null(), or make the key optional.',
  nan: 'Keep null, z.null().',
  transform: 'Transform in the rules: what is kept is read by the same schema again.',
}

function findOther(schema: z.ZodType, io: 'input' | 'output'): { readonly type: string; readonly at: string } | null {
  let found: { type: string; at: string } | null = null
  try {
    z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override({ zodSchema, jsonSchema, path }) {
        const { type } = zodSchema._zod.def
        if (!(Object.keys(jsonSchema).length === 0 && OTHER.has(type))) return
        found ??= { type, at: path.filter((part) => part !== 'properties').join('.') }
      },
    })
  } catch {
    // A schema that is none of zod 4 inside of one, for example.
  }
  return found
}

const OTHER: ReadonlySet<string> = new Set([
  ...['date', 'bigint', 'map', 'set', 'undefined', 'void', 'nan'],
  ...['transform', 'symbol', 'function', 'custom', 'promise'],
])

export function invalid(name: string, why: string): ServerError {
  return new ServerError('definition-invalid', `The environment ${name} cannot be served: ${why}.`)
}
