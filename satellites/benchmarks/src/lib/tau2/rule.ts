import type { JsonObject, Rng } from '@episodic/protocol'
import { z } from 'zod'
import { dumps } from '../python/dumps.ts'
import { float, type PythonValue } from '../python/value.ts'
import type { DomainTool, Seat } from './domain.ts'

export interface Rule<Db> {
  readonly shape: z.ZodRawShape
  readonly changes: boolean
  /** Returns what the caller reads: a text, or a value that is printed. Throws a `ToolError`. */
  run(db: Db, input: JsonObject, rng?: Rng): unknown
}

/** Makes rules over one kind of database. */
export function rulesOver<Db>() {
  return <Shape extends z.ZodRawShape>(
    kind: 'reads' | 'changes',
    shape: Shape,
    run: (db: Db, input: z.output<z.ZodObject<Shape>>, rng: Rng) => unknown,
  ): Rule<Db> => ({ shape, changes: kind === 'changes', run: run as Rule<Db>['run'] })
}

/** Returns rules as the tools of a seat, whose answers are printed as the original prints them. */
export function toolsOf<Db, State>(
  seat: Seat,
  rules: { readonly [name: string]: Rule<Db> },
  open: (state: State) => Db,
  print: (value: object) => string = String,
): Record<string, DomainTool<State>> {
  const made = Object.entries(rules).map(([name, { shape, changes, run }]) => {
    const play: DomainTool<State>['play'] = (state, input, rng) => {
      const found = run(open(state), input, rng)
      return typeof found === 'string' ? found : print(found as object)
    }
    return [name, { seat, input: z.strictObject(shape), changes, play }] as const
  })
  return Object.fromEntries(made)
}

/** A state has no negative zero. This stands for it, and is printed so. */
export const NEGATIVE_ZERO = -Number.MIN_VALUE

/**
 * Prints a value as `json.dumps` does. JavaScript has one kind of numbers: `isFloat` returns whether the number that a
 * field of an object holds is a float in Python.
 */
export function printJson(value: unknown, isFloat: (owner: object, field: string) => boolean): string {
  const convert = (part: unknown): PythonValue => {
    if (Array.isArray(part)) return part.map(convert)
    if (part instanceof Map) return { $dict: [...part].map(([key, item]) => [key, convert(item)] as const) }
    if (typeof part !== 'object' || part === null) return part as PythonValue
    const fields = Object.entries(part).map(([field, item]) => {
      if (typeof item !== 'number') return [field, convert(item)]
      return [field, isFloat(part, field) ? float(item === NEGATIVE_ZERO ? -0 : item) : item]
    })
    return Object.fromEntries(fields) as PythonValue
  }
  return dumps(convert(value))
}
