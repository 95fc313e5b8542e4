import { z } from 'zod'
import { weights } from '../../../base/option-values.ts'
import { option } from '../../../base/options.ts'

const share = z.number().min(0).optional()
export const toolFaultRatesSchema = z
  .strictObject({ error: share, slow: share, stale: share })
  // A player that is always answered by an error never ends.
  .refine((rates) => Object.values(rates).reduce((sum, one) => sum + one, 0) <= 0.9, 'Give 0.9 in all at most.')
  .refine((rates) => Object.keys(rates).length > 0, 'Give the share of one kind at least.')
export type ToolFaultRates = z.infer<typeof toolFaultRatesSchema>

export const toolFaultOptions = z.object({
  toolFaults: option(
    '<kind=share,…>',
    'let calls of tools fail on their way: error, slow or stale, as error=0.05,slow=0.1',
    toolFaultRatesSchema.optional(),
    { text: weights },
  ),
})
