import { environment as numberGuessing } from '@episodic-world/number-guessing'
import { z } from 'zod'

/**
 * number-guessing with episodes of 29 steps, so that opening them hardly counts. Its sessions are those of the MCP
 * connection: its tools are called without naming a session.
 */
export const environment = Object.freeze({
  ...numberGuessing,
  handle: null,
  params: z.object({
    low: z.int().default(1),
    high: z.int().default(1_000_000_000),
    maxGuesses: z.int().default(32),
  }),
})
