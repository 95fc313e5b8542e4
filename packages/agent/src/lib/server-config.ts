import { z } from 'zod'
import { AgentError } from './agent-error.ts'
import type { OAuthProvider } from './oauth-provider.ts'

/** A server to start as a child process that speaks over its pipes: one process for each session. */
export interface CommandServer {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** Added to the few variables that a child inherits, such as `PATH` and `HOME`. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
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

export type ServerConfig = CommandServer | UrlServer

/** Named servers, as desktop clients keep them. */
export interface McpServersConfig {
  readonly mcpServers: Readonly<Record<string, ServerConfig>>
}

/** What `${NAME}` in a configuration is replaced from, such as `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

const record = z.record(z.string(), z.string())
const commandSchema = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: record.optional(),
  cwd: z.string().optional(),
})
const urlSchema = z.strictObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: record.optional(),
  token: z.string().optional(),
  authorization: z.custom<OAuthProvider>((value) => typeof value === 'object' && value !== null).optional(),
})
const configSchema = z.looseObject({ mcpServers: z.record(z.string().min(1), z.looseObject({})) })

/**
 * Checks a configuration, and replaces `${NAME}` in every value from `variables`, so that tokens need not stand in it.
 * Without `variables` nothing is replaced.
 *
 * Throws `config-invalid`, naming the server and the field.
 */
export function parseServers(config: McpServersConfig, variables?: Variables): Map<string, ServerConfig> {
  const { mcpServers } = check(configSchema, config, [])
  return new Map(
    Object.entries(mcpServers).map(([name, entry]) => {
      const path = ['mcpServers', name]
      if (!('command' in entry || 'url' in entry)) throw wrong(path, 'it needs either a url or a command')
      const schema: z.ZodType<ServerConfig & { type?: string | undefined }> =
        'command' in entry ? commandSchema : urlSchema
      const { type: _, ...server } = check(schema, variables ? expand(entry, variables, path) : entry, path)
      return [name, server]
    }),
  )
}

function check<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw wrong([...path, ...(issue?.path ?? []).map(String)], issue?.message ?? '', parsed.error)
}

function wrong(path: readonly string[], why: string, cause?: unknown): AgentError {
  return new AgentError('config-invalid', `The configuration is wrong at ${path.join('.') || 'its top'}: ${why}.`, {
    cause,
  })
}

function expand(value: unknown, variables: Variables, path: readonly string[]): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const found = Object.hasOwn(variables, name) ? variables[name] : undefined
      if (found === undefined) throw wrong(path, `it uses the variable ${name}, which is not set`)
      return found
    })
  if (Array.isArray(value)) return value.map((item, i) => expand(item, variables, [...path, String(i)]))
  // A provider of tokens is a live thing, and has nothing to replace.
  if (typeof value === 'object' && value !== null && (path.length === 2 || isPlain(value)))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        path.length === 2 && key === 'authorization' ? item : expand(item, variables, [...path, key]),
      ]),
    )
  return value
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
