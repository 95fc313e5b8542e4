import { wholeNumber } from '@episodic/run/base/option-values'
import { option } from '@episodic/run/base/options'
import { z } from 'zod'

export const metricsOptions = z.object({
  metricsPort: option(
    '<port>',
    'answer /metrics, /healthz and /readyz here; 0 for a free port',
    wholeNumber(0, 65_535).optional(),
  ),
  metricsAddress: option('<address>', 'address of --metrics-port', z.string().default('127.0.0.1')),
})
