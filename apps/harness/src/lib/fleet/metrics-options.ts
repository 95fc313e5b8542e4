import { z } from 'zod'
import { wholeNumber } from '../base/option-values.ts'
import { option } from '../base/options.ts'

export const metricsOptions = z.object({
  metricsPort: option(
    '<port>',
    'answer /metrics, /healthz and /readyz here; 0 for a free port',
    wholeNumber(0, 65_535).optional(),
  ),
  metricsAddress: option('<address>', 'address of --metrics-port', z.string().default('127.0.0.1')),
})
