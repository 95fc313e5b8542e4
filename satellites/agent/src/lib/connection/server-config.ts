import { parseMcpConfig, urlEntrySchema } from '@episodic/protocol/internal'
import { z } from 'zod'
import { AgentError } from '../agent-error.ts'
import type { OAuthProvider } from './oauth-provider.ts'

/** A server to start as a child process that speaks over its pipes: one process for each session. */
export interface CommandServer {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** Added to the few variables that a child inherits, such as `PATH` and `HOME`. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** Seconds for it to start and answer for the first time. Default: `openMilliseconds`. */
  readonly startSeconds?: number | undefined
}

/** A server over Streamable HTTP: one MCP session for each session. */
export interface UrlServer {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as a bearer token. */
  readonly token?: string | undefined
  /** Gets and renews tokens by OAuth. Stands in place of `token`. */
  readonly authorization?: OAuthProvider | undefined
}

export type Variables = Readonly<Record<string, string | undefined>>

export type ServerConfig = CommandServer | UrlServer

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
