import type { Channel } from '@episodic/protocol'
import { z } from 'zod'
import type { Authorization } from './authorization.ts'
import type { Elicit } from './elicitation.ts'
import { EnvError } from './env-error.ts'
import type { CallOptions } from './environment.ts'
import type { Era } from './era.ts'

/**
 * A server at a URL: Streamable HTTP, a WebSocket (`ws:`, `wss:`), or newline-framed JSON-RPC over TCP
 * (`tcp://<host>:<port>`) or a Unix socket (`unix:<path>`). `token` is sent as a bearer token, and over TCP in the first
 * message. Headers go with HTTP and, outside of a page, with a WebSocket.
 */
export interface HttpTarget {
  readonly url: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Logs in where a server over HTTP asks for it, in the place of a `token`. */
  readonly authorization?: Authorization | undefined
}

/** A server to start as a child process that speaks over its pipes. It is stopped when the connection closes. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** Added to the few variables that a child inherits. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
}

/** What can be connected to: a URL, a URL with a token, a command, or a channel such as a host in this process. */
export type Target = string | HttpTarget | CommandTarget | Channel

/** Options of a channel. */
export interface ChannelOptions extends CallOptions {
  /** Hears of every message on the wire, for debugging. Not of those to a host in the same process: there is no wire. */
  readonly onMessage?: (direction: 'sent' | 'received', message: unknown) => void
  /**
   * Which era of MCP each server over HTTP speaks, by its URL. What is found out is written here, and what stands here is
   * not asked again. Left out, every server is asked once for each channel.
   */
  readonly eras?: Map<string, Era>
  /**
   * Answers a server over HTTP or a pipe that asks the person at the client for something in the midst of a call. Left out,
   * servers are told that there is nobody to ask.
   */
  readonly elicit?: Elicit
}

const urlSchema = z.strictObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).optional(),
  token: z.string().optional(),
})
const commandSchema = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
})
const configSchema = z.looseObject({ mcpServers: z.record(z.string().min(1), z.looseObject({})) })

/** What `${NAME}` in a configuration is replaced from, such as `process.env`. */
type Variables = Readonly<Record<string, string | undefined>>

/**
 * Reads an `mcpServers` configuration, as desktop clients keep it, from its JSON text: named servers, each a URL or
 * a command. `${NAME}` in any value is replaced from `variables`, so that tokens need not stand in the file.
 *
 * Throws `config-invalid`, naming the server and the field.
 */
export function parseMcpServers(text: string, variables: Variables): Map<string, HttpTarget | CommandTarget> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new EnvError('config-invalid', `The configuration is not JSON: ${(cause as Error).message}.`, { cause })
  }
  const { mcpServers } = check(configSchema, json, [])
  return new Map(
    Object.entries(mcpServers).map(([name, entry]) => {
      const path = ['mcpServers', name]
      const schema = 'command' in entry ? commandSchema : urlSchema
      if (!('command' in entry || 'url' in entry)) throw wrong(path, 'it needs either a url or a command')
      const { type: _, ...target } = check<(HttpTarget & { type?: string }) | (CommandTarget & { type?: string })>(
        schema,
        expand(entry, variables, path),
        path,
      )
      return [name, target]
    }),
  )
}

function check<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw wrong([...path, ...(issue?.path ?? []).map(String)], issue?.message ?? '', parsed.error)
}

function wrong(path: readonly string[], why: string, cause?: unknown): EnvError {
  return new EnvError('config-invalid', `The configuration is wrong at ${path.join('.') || 'its top'}: ${why}.`, {
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
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, expand(item, variables, [...path, key])]),
    )
  return value
}
