import type { Channel } from '@episodic/protocol'
import { z } from 'zod'
import { EnvError } from './env-error.ts'

/** A server at a URL (Streamable HTTP). `token` is sent as a bearer token. */
export interface HttpTarget {
  readonly url: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
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

const entrySchema = z.union([
  z.strictObject({
    type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).optional(),
    token: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('stdio').optional(),
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().optional(),
  }),
])
const configSchema = z.looseObject({ mcpServers: z.record(z.string().min(1), entrySchema) })

/**
 * Reads an `mcpServers` configuration, as desktop clients keep it, from its JSON text: named servers, each a URL or
 * a command. `${NAME}` in any value is replaced from `variables`, so that tokens need not stand in the file.
 *
 * Throws `config-invalid`, naming the server and the field, or the variable that is not set.
 */
export function parseMcpServers(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): Map<string, Target> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new EnvError('config-invalid', `The configuration is not JSON: ${(cause as Error).message}.`, { cause })
  }
  const parsed = configSchema.safeParse(expand(json, variables))
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new EnvError(
      'config-invalid',
      `The configuration is wrong at ${issues.join('; ')}. Each of mcpServers needs either a url or a command.`,
      { cause: parsed.error },
    )
  }
  return new Map(
    Object.entries(parsed.data.mcpServers).map(([name, { type: _, ...target }]) => [name, target as Target]),
  )
}

function expand(value: unknown, variables: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const found = variables[name]
      if (found === undefined)
        throw new EnvError('config-invalid', `The configuration uses \${${name}}, which is not set.`)
      return found
    })
  if (Array.isArray(value)) return value.map((item) => expand(item, variables))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item, variables)]))
  return value
}
