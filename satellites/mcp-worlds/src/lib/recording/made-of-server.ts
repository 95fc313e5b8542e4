import { jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { listedToolSchema } from '../servers/call-tool.ts'

/** What runs keep of an environment that was made of an MCP server. */
export const madeOfSchema = z.object({
  tools: z.array(listedToolSchema),
  /** Which of them the player has, and how they are called. */
  choice: z.strictObject({
    only: z.array(z.string()).optional(),
    hide: z.array(z.string()).optional(),
    rename: z.record(z.string(), z.string()).optional(),
    describe: z.record(z.string(), z.string()).optional(),
  }),
  /** How the server said that it is to be used. Left out if it said nothing. */
  instructions: z.string().optional(),
  description: z.string(),
  limits: jsonObjectSchema,
  scored: z.boolean(),
})
export type MadeOfServer = z.infer<typeof madeOfSchema>
