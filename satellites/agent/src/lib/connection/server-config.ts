import {
  type CommandTarget,
  type HttpTarget,
  type OAuthProvider,
  parseMcpConfig,
  urlEntrySchema,
} from '@episodic/mcp-client'
import { z } from 'zod'
import { AgentError } from '../agent-error.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/**
 * A server over Streamable HTTP, with one MCP session for each session, or a command to start, with one process for
 * each. The `startSeconds` of a command are by default those of `openMilliseconds`.
 */
export type ServerConfig = CommandTarget | HttpTarget

/** Named servers, as desktop clients keep them. */
export interface McpServersConfig {
  readonly mcpServers: Readonly<Record<string, ServerConfig>>
}

const urlSchema = urlEntrySchema.extend({
  authorization: z.custom<OAuthProvider>((value) => typeof value === 'object' && value !== null).optional(),
})

/**
 * Checks a configuration, and replaces `${NAME}` in every value from `variables`, so that tokens need not stand in it.
 * Without `variables` nothing is replaced.
 *
 * Throws `config-invalid`, naming the server and the field.
 */
export function parseServers(config: McpServersConfig, variables?: Variables): Map<string, ServerConfig> {
  const fail = (message: string, cause?: unknown) => new AgentError('config-invalid', message, { cause })
  return parseMcpConfig(config, { urlSchema, variables, fail })
}
