import { z } from 'zod'
import { type JsonObject, jsonObjectSchema } from './json.ts'

/** The whole state of an environment, with the parts that players may not see. */
export interface FullState {
  readonly public: JsonObject
  /** What each seat alone may see. Left out if the environment has one seat. */
  readonly own?: { readonly [seat: string]: JsonObject } | undefined
  readonly private: JsonObject
}
/** Strict: an unknown part is reported, not dropped. */
export const fullStateSchema: z.ZodType<FullState> = z.strictObject({
  public: jsonObjectSchema,
  own: z.record(z.string(), jsonObjectSchema).optional(),
  private: jsonObjectSchema,
})
