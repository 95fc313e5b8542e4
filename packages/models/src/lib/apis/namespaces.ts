import type { JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/internal'

// The API of responses has tools in namespaces, such as those of an MCP server. A chat has plain names.

export function plainName(name: string, namespace: unknown): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name
}

/** Returns the tools of a request under their plain names, also those that an item of its input adds. */
export function plainTools(tools: readonly JsonObject[], items: readonly JsonObject[] = []): JsonObject[] {
  const added = items.flatMap((item) => (item.type === 'additional_tools' ? objectsOf(item.tools) : []))
  return [...tools, ...added].flatMap((tool) =>
    withinOf(tool).map(({ plain, ...given }) => (plain === '' ? given : { ...given, name: plain })),
  )
}

/** Returns the name of a tool and its namespace, as a request has them, for a plain name. */
export function namespacedName(body: JsonObject, plain: string): { name: string; namespace?: string } {
  const tools = [...objectsOf(body.tools), ...objectsOf(body.input).flatMap(({ tools }) => objectsOf(tools))]
  const found = tools
    .filter(({ type }) => type === 'namespace')
    .flatMap((tool) => withinOf(tool).map((own) => ({ own, namespace: toText(tool.name) })))
    .find(({ own }) => own.plain === plain)
  return found ? { name: toText(found.own.name), namespace: found.namespace } : { name: plain }
}

function withinOf(tool: JsonObject): (JsonObject & { readonly plain: string })[] {
  const own = tool.type === 'namespace' ? objectsOf(tool.tools) : [tool]
  const namespace = tool.type === 'namespace' ? tool.name : undefined
  return own.map((one) => ({ ...one, plain: plainName(toText(one.name), namespace) }))
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value.filter(isObject) as JsonObject[]) : []
}
