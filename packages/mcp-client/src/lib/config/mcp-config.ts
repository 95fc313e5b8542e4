import { z } from 'zod'

/** A server to start as a child process that speaks over its pipes. */
export type CommandEntry = Omit<z.infer<typeof commandSchema>, 'type'>

/** The values for `${NAME}` in a configuration, for example `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Keys of entries that other programs write, and that mean nothing in an entry that is used. */
const OF_OTHERS = [
  ...['alwaysAllow', 'autoApprove', 'description', 'disabled', 'disabledTools', 'enabled', 'enabledTools', 'envFile'],
  ...['excludeTools', 'gallery', 'icon', 'includeTools', 'initTimeout', 'isActive', 'name', 'settings', 'source'],
  ...['tags', 'timeout', 'tool_timeout_sec', 'tools', 'transport', 'transportType', 'trust', 'version'],
]

/** Some programs write numbers and booleans, and `null` for what is left out. */
const texts = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()], 'Invalid input: expected string'))
  .transform((values) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([key, value]) => (value === null ? [] : [[key, String(value)]])),
    ),
  )

const commandSchema = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string(), 'Invalid input: expected a list of texts, such as ["-y", "a-server"]').optional(),
  env: texts.optional(),
  cwd: z.string().optional(),
  /** Seconds for it to start and answer for the first time. */
  startSeconds: z.number().positive().max(86_400).optional(),
})

const NO_SSE =
  'Invalid option: expected http or streamable-http. The HTTP with SSE of 2024-11-05 is not spoken here, and most servers that have it have the newer one too, often at /mcp'

/** The entry of a server at a URL. A client that accepts more fields extends it. */
export const urlEntrySchema = z.strictObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp'], NO_SSE).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.optional(),
  token: z.string().optional(),
})

const serversSchema = z.record(z.string().min(1), z.unknown())
const entrySchema = z.looseObject({})

export interface ConfigReading<Url> {
  readonly urlSchema: z.ZodType<Url & { type?: string | undefined }>
  /** The one server that is returned, or a choice among the names of the enabled ones. Default: all enabled ones. */
  readonly only?: string | ((enabled: readonly string[]) => string | undefined) | undefined
  /** Left out, nothing is replaced. */
  readonly variables?: Variables | undefined
  /** Returns the client's own error for a message. */
  readonly fail: (message: string, cause?: unknown) => Error
}

/**
 * Reads an `mcpServers` configuration, as desktop clients keep it: named servers, each a URL or a command. `${NAME}`
 * and `${env:NAME}` in any of their texts are replaced, and `${NAME:-text}` by the text if there is no such variable,
 * so that a file need not contain tokens. Objects with methods, for example a provider of tokens, are kept as they are.
 * What other programs write into an entry, such as `autoApprove`, is ignored, and what they call otherwise (`servers`,
 * `context_servers`, `serverUrl`, `environment`, a `command` with its arguments) is read as meant. A server that is
 * `disabled` is left out unless it is named.
 *
 * Throws the error that `fail` returns for a message that names the server and the field.
 */
export function parseMcpConfig<Url>(
  config: unknown,
  { urlSchema, only, variables, fail }: ConfigReading<Url>,
): Map<string, CommandEntry | Omit<Url, 'type'>> {
  const path = findPlace(check(entrySchema, config, []))
  const servers = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config)
  const entries = Object.entries(check(serversSchema, servers, path))
  const enabled = entries.filter(([, entry]) => !isDisabled(entry)).map(([name]) => name)
  const chosen = typeof only === 'function' ? only(enabled) : only
  return new Map(
    entries.flatMap(([name, given]) => {
      if (chosen === undefined ? !enabled.includes(name) : name !== chosen) return []
      const at = [...path, name]
      const entry = asWrittenHere(check(entrySchema, given, at))
      if (!('command' in entry || 'url' in entry)) throw wrong(at, 'it needs either a url or a command')
      const said = variables ? expand(entry, variables, at) : entry
      const { type: _, ...server } = 'command' in entry ? check(commandSchema, said, at) : check(urlSchema, said, at)
      return [[name, server] as const]
    }),
  )

  function check<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    const known = issue?.code === 'unrecognized_keys' && schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
    const why = `${issue?.message}${known.length > 0 ? `; known here are ${known.join(', ')}` : ''}`
    throw wrong([...path, ...(issue?.path ?? []).map(String)], why, parsed.error)
  }

  function expand(value: unknown, variables: Variables, path: readonly string[]): unknown {
    if (typeof value === 'string')
      return value.replace(PLACEHOLDER, (placeholder, kind: string, name: string, otherwise: string | undefined) => {
        if (kind !== '' && kind !== 'env:')
          throw wrong(
            path,
            `it has the placeholder ${placeholder}, which is filled in by another program. Write its value`,
          )
        const found = Object.hasOwn(variables, name) ? variables[name] : undefined
        if (found || (found !== undefined && otherwise === undefined)) return found
        if (otherwise === undefined) throw wrong(path, `it uses the variable ${name}, which is not set`)
        return otherwise
      })
    if (Array.isArray(value)) return value.map((item, i) => expand(item, variables, [...path, String(i)]))
    if (!isData(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, expand(item, variables, [...path, key])]),
    )
  }

  function wrong(path: readonly string[], why: string, cause?: unknown): Error {
    return fail(`The configuration is wrong at ${path.join('.') || 'its top'}: ${why}.`, cause)
  }
}

/** Where programs keep their servers: Visual Studio Code in a file of its own and among its settings, Zed, Amp. */
const PLACES = [['mcpServers'], ['servers'], ['mcp', 'servers'], ['context_servers'], ['amp.mcpServers'], ['mcp']]

function findPlace(config: object): string[] {
  const found = PLACES.find((path) => {
    const value = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config)
    return value !== undefined
  })
  return found ?? ['mcpServers']
}

/** `${NAME}`, `${kind:NAME}` and `${NAME:-text}`. */
const PLACEHOLDER = /\$\{((?:[A-Za-z]+:(?!-))?)([\w.-]*\w)(?::-([^}]*))?\}/g

/** What OpenCode calls the transports. */
const TYPES: Readonly<Record<string, string>> = { local: 'stdio', remote: 'http' }

/** Returns an entry without the keys of other programs, its URL and command under the names of our clients. */
function asWrittenHere(entry: object): object {
  const own = Object.entries(entry).filter(([key, value]) => value !== null && !OF_OTHERS.includes(key))
  const {
    serverUrl,
    httpUrl = serverUrl,
    startup_timeout_sec: startSeconds,
    environment,
    type,
    ...rest
  } = Object.fromEntries(own)
  const named = {
    ...(type !== undefined && { type: TYPES[type] ?? type }),
    ...(environment !== undefined && { env: environment }),
    ...(httpUrl !== undefined && { url: httpUrl }),
    ...(startSeconds !== undefined && 'command' in rest && { startSeconds }),
    ...rest,
  }
  const { command, args = [] } = rest
  if (isData(command)) {
    // Zed has written commands so.
    const { path, ...others } = command as { readonly path?: unknown }
    return asWrittenHere({ ...entry, ...others, command: path })
  }
  if (!Array.isArray(command) || !Array.isArray(args)) return named
  return { ...named, command: command[0], args: [...command.slice(1), ...args] }
}

function isDisabled(entry: unknown): boolean {
  const { disabled, enabled, isActive } = (entry ?? {}) as { disabled?: unknown; enabled?: unknown; isActive?: unknown }
  return disabled === true || enabled === false || isActive === false
}

/** Whether a value could come from a file: a plain object without functions. */
function isData(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((item) => typeof item !== 'function')
}

/** Parses JSON that may have comments, trailing commas and a byte order mark. Throws a `SyntaxError`. */
export function parseConfigText(text: string): unknown {
  const plain = text.replace(/^\ufeff/, '').replace(COMMENT, (found) => (found.startsWith('"') ? found : ' '))
  return JSON.parse(plain.replace(LAST_COMMA, (found) => (found.startsWith('"') ? found : '')))
}

const TEXT = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"/
const COMMENT = new RegExp(`${TEXT.source}|//[^\\n]*|/\\*[^]*?\\*/`, 'g')
const LAST_COMMA = new RegExp(`${TEXT.source}|,(?=\\s*[}\\]])`, 'g')
