import { z } from 'zod'

/** The statements of a transaction that is open, each with the time, since 1970, and the chance that it had. */
export const openStatements = z.array(
  z.strictObject({ sql: z.string(), now: z.number(), seed: z.tuple([z.int(), z.int()]) }),
)

export type OpenStatement = z.output<typeof openStatements>[number]
