import type { JsonObject } from '@episodic/protocol'
import { sendable } from './modern-request.ts'

/** Which arguments of a tool are repeated in headers: the header's name, and the way to the argument. */
type Repeated = readonly { readonly header: string; readonly path: readonly string[] }[]

/** The tools of one server of the modern era that want some of their arguments in headers too (`x-mcp-header`). */
export class ToolHeaders {
  readonly #repeated = new Map<string, Repeated>()

  /** Takes note of a list of tools, and gives it without those that ask for headers wrongly: they are not to be called. */
  keep(tools: readonly JsonObject[]): readonly JsonObject[] {
    return tools.filter((tool) => {
      const { name, inputSchema } = tool ?? {}
      const repeated = readRepeated(inputSchema)
      if (repeated) this.#repeated.set(String(name), repeated)
      return repeated !== null
    })
  }

  /** The headers that go with a call. */
  for(tool: unknown, args: unknown): Record<string, string> {
    const headers: Record<string, string> = {}
    for (const { header, path } of this.#repeated.get(String(tool)) ?? []) {
      const value = path.reduce<unknown>((at, key) => (at as JsonObject | null | undefined)?.[key], args)
      if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value))
        headers[`mcp-param-${header}`] = sendable(String(value))
    }
    return headers
  }
}

/** A schema that nests deeper is not looked into. */
const DEEPEST = 64

/** Where a value may look like a schema and is none. */
const VALUES = new Set(['const', 'default', 'enum', 'examples'])

/** What a schema asks for; `null` where it asks wrongly: in the wrong place, for what is not plain, or twice for one name. */
function readRepeated(inputSchema: unknown): Repeated | null {
  const repeated: { header: string; path: readonly string[] }[] = []
  const isRight = (node: unknown, path: readonly string[] | null, depth: number): boolean => {
    if (typeof node !== 'object' || node === null) return true
    if (depth > DEEPEST) return false
    const schema = node as JsonObject
    if (Object.hasOwn(schema, 'x-mcp-header')) {
      const { 'x-mcp-header': header, type } = schema
      if (!path?.length || typeof header !== 'string' || !/^[\w!#$%&'*+.^`|~-]+$/.test(header)) return false
      if (type !== 'string' && type !== 'integer' && type !== 'boolean') return false
      if (repeated.some((other) => other.header.toLowerCase() === header.toLowerCase())) return false
      repeated.push({ header, path })
    }
    return Object.entries(schema).every(([keyword, inner]) => {
      if (VALUES.has(keyword)) return true
      if (keyword !== 'properties') return isRight(inner, null, depth + 1)
      return Object.entries((inner ?? {}) as JsonObject).every(([key, child]) =>
        isRight(child, path && [...path, key], depth + 1),
      )
    })
  }
  return isRight(inputSchema, [], 0) ? repeated : null
}
