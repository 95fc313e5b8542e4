import { z } from 'zod'

/** Returns fields of one kind, in this order. */
export function each<Schema, Name extends string>(schema: Schema, ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, schema])) as { [Key in Name]: Schema }
}

export const texts = <Name extends string>(...names: readonly Name[]) => each(z.string(), ...names)

/** Texts that may be missing, and are `null` then. */
export const optional = <Name extends string>(...names: readonly Name[]) =>
  each(z.string().nullable().default(null), ...names)
