import { z } from 'zod'

const texts = z.array(z.string().min(1))
const factSchema = z.strictObject({
  value: z.string().min(1),
  /** Other names of the fact, by which an agent asks for it. */
  names: texts.default([]),
  /** Whether it may be said `freely`, once it was `asked` for, or `never`. */
  tell: z.enum(['freely', 'asked', 'never']).default('freely'),
  not: texts.default([]),
})

/** What a simulated user knows and wants: what its turns are checked against. */
export const userSheetSchema = z.strictObject({
  goal: z.string(),
  /** By their names. */
  facts: z.record(z.string(), factSchema).default({}),
  /** By a tool of the user: words which say that it has been called, such as `rebooted`. */
  claims: z.record(z.string(), texts).default({}),
  stop: z
    .strictObject({
      words: texts.default(['###STOP###']),
      giveUp: texts.default(['###TRANSFER###', '###OUT-OF-SCOPE###', 'never mind', 'forget it', 'give up']),
      /** How often the agent has spoken before it may give up. */
      giveUpAfter: z.int().min(0).default(3),
    })
    .prefault({}),
})
export type UserSheet = z.output<typeof userSheetSchema>
