import { z } from 'zod'
import { jsonObjectSchema } from './json.ts'

/**
 * The whole state of an environment, with the parts that players may not see. Strict: an unknown part is reported, not
 * dropped.
 */
export const fullStateSchema = z.strictObject({
  public: jsonObjectSchema,
  /** What each seat alone may see. Left out if the environment has one seat. */
  own: z.record(z.string(), jsonObjectSchema).optional(),
  private: jsonObjectSchema,
})
