import type { z } from 'zod'
import type { Json, JsonObject } from './json.ts'

/** What a schema reads, as a value that nobody changes. */
export type Wire<S extends z.ZodType> = Fixed<z.output<S>>

/** JSON of any shape is fixed already, and its type has no end. */
type Fixed<T> = Json extends T
  ? T
  : T extends object
    ? JsonObject extends T
      ? T
      : { readonly [K in keyof T]: Fixed<T[K]> }
    : T
