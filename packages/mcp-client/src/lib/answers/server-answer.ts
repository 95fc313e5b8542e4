import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, mediaTypeOf, readBase64, shorten, toText } from '@episodic/protocol/internal'

/**
 * Returns the messages in a line of a server over pipes; none in a line that is none, such as a greeting. Some servers
 * begin with a byte order mark, write `null` for what is left out, or write an error as a text: they are read as meant.
 *
 * JSON with an id that is no message, and a line that is not JSON with an id before a result or an error, are read as
 * error answers that quote the line, so that these requests end at once. An answer over several lines is not read.
 */
export function readServerLine(line: string): JsonObject[] {
  const text = line.replace(/^\ufeff/, '').trim()
  const value = parsed(text)
  // A batch, as versions before 2025-06-18 had it.
  const messages: readonly (Json | undefined)[] = Array.isArray(value) ? value : [value]
  return messages.flatMap((message): JsonObject[] => {
    if (!isObject(message)) return unreadable(text)
    const read = readMessage(message, text)
    return read ? [read] : []
  })
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readMessage(message: JsonObject, line: string): JsonObject | null {
  const { id, method, params, result, error } = message
  const jsonrpc = '2.0'
  if (typeof method === 'string')
    return { jsonrpc, ...(id !== undefined && { id }), method, ...(isObject(params) && { params }) }
  if (id === undefined) return null
  if (error !== undefined && error !== null && error !== false && error !== '')
    return { jsonrpc, id, error: readError(error) }
  if (isObject(result)) {
    const { _meta, ...rest } = result
    return { jsonrpc, id, result: { ...rest, ...(isObject(_meta) && { _meta }) } }
  }
  if (result === null && error === undefined) return { jsonrpc, id, result: {} }
  return id === null ? null : noMessage(id, line)
}

/** JSON-RPC's code for a fault of the server. */
const INTERNAL = -32_603

function readError(error: Json): JsonObject {
  if (!isObject(error)) return { code: INTERNAL, message: typeof error === 'string' ? error : JSON.stringify(error) }
  const { code, message, data } = error
  return {
    code: Number.isSafeInteger(code) ? (code as number) : INTERNAL,
    message: typeof message === 'string' ? message : JSON.stringify(error),
    ...(data !== undefined && data !== null && { data }),
  }
}

// A log of the requests that came has ids too.
const ANSWERED =
  /"id"\s*:\s*(\d{1,15}|"(?:[^"\\]|\\.){1,256}")\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/g

/** Returns the answers for a line that is not JSON: an error for each id in it that an answer has. */
function unreadable(line: string): JsonObject[] {
  return [...line.matchAll(ANSWERED)].map(([, id]) => noMessage(JSON.parse(id as string), line))
}

function noMessage(id: Json, line: string): JsonObject {
  const message = `The server answered with a line that is no message of MCP: ${shorten(line, 300)}`
  return { jsonrpc: '2.0', id, error: { code: INTERNAL, message } }
}

/**
 * Returns the result of a request as the protocol has it, where a server writes it a little differently. Members that
 * are `null` are left out, a tool that cannot be read is left out and passed to `leaveOut`, and a part of an answer
 * that cannot be read becomes a text with its JSON. Results of other methods are returned as they are.
 */
export function readServerResult(
  method: string,
  result: unknown,
  leaveOut: (tool: string) => void = () => {},
): unknown {
  if (!isObject(result)) return result
  if (method === 'initialize') return readInitialized(result)
  if (method === 'tools/list') return readToolsPage(result, leaveOut)
  return method === 'tools/call' ? readToolAnswer(result) : result
}

function readInitialized(result: JsonObject): JsonObject {
  const { capabilities, serverInfo, protocolVersion, instructions, _meta, ...rest } = withoutNull(result)
  const info = isObject(serverInfo) ? serverInfo : {}
  const texts = Object.entries(info).filter(([name, member]) => typeof member === 'string' && name !== 'icons')
  // Some servers write `true` for a capability without options.
  const able = Object.entries(isObject(capabilities) ? capabilities : {}).flatMap(([name, member]) =>
    isObject(member) ? [[name, member]] : member === true ? [[name, {}]] : [],
  )
  return {
    ...rest,
    protocolVersion: toText(protocolVersion),
    ...(typeof instructions === 'string' && { instructions }),
    ...(isObject(_meta) && { _meta }),
    capabilities: Object.fromEntries(able),
    serverInfo: {
      ...Object.fromEntries(texts),
      name: toText(info.name) || 'unknown',
      version: toText(info.version) || '0',
    },
  }
}

function readToolsPage(result: JsonObject, leaveOut: (tool: string) => void): JsonObject {
  const { tools, nextCursor, ...rest } = withoutNull(result, ['_meta', 'tools', 'nextCursor'])
  const names = new Set<unknown>()
  return {
    ...rest,
    tools: (Array.isArray(tools) ? tools : []).flatMap((tool: Json) => {
      const known = isObject(tool) && names.has(tool.name)
      const read = known ? null : readTool(tool)
      if (read) names.add(read.name)
      if (!read) leaveOut(shorten(JSON.stringify(isObject(tool) ? (tool.name ?? tool) : tool)))
      return read ?? []
    }),
    // An empty cursor is no further page.
    ...(nextCursor !== undefined && nextCursor !== '' && { nextCursor: toText(nextCursor) }),
  }
}

function readTool(tool: Json): JsonObject | null {
  if (!isObject(tool)) return null
  const { name, description, title, inputSchema, outputSchema, annotations, icons, _meta, ...rest } = withoutNull(tool)
  const schema = inputSchema === undefined || inputSchema === true ? {} : inputSchema
  if (typeof name !== 'string' || name === '' || !isObject(schema)) return null
  return {
    ...rest,
    name,
    ...(typeof description === 'string' && { description }),
    ...(typeof title === 'string' && { title }),
    inputSchema: { ...withoutNull(schema, ['properties', 'required']), type: 'object' },
    ...(isObject(outputSchema) && outputSchema.type === 'object' && { outputSchema }),
    ...(isObject(annotations) && { annotations: withoutNull(annotations) }),
    ...(Array.isArray(icons) && { icons }),
    ...(isObject(_meta) && { _meta }),
  }
}

function readToolAnswer(result: JsonObject): JsonObject {
  const { content, isError, ...rest } = withoutNull(result, ['_meta', 'content', 'isError', 'structuredContent'])
  const parts = content === undefined ? [] : Array.isArray(content) ? content : [content]
  return { ...rest, content: parts.map(readPart), ...(toText(isError) === 'true' && { isError: true }) }
}

function readPart(part: Json): JsonObject {
  if (typeof part === 'string') return { type: 'text', text: part }
  const { annotations, ...rest } = isObject(part) ? withoutNull(part) : {}
  const { resource } = rest
  const plain: JsonObject = {
    ...(rest.type === 'image' || rest.type === 'audio' ? withMedia(rest) : rest),
    ...(isObject(annotations) && { annotations: withoutNull(annotations) }),
    ...(isObject(resource) && { resource: withPlainBlob(withoutNull(resource)) }),
  }
  if (isPart(plain)) return plain
  return {
    type: 'text',
    text: isObject(part) && part.type === 'text' && part.text === null ? '' : JSON.stringify(part),
  }
}

function isPart({ type, text, data, mimeType, uri, name, resource }: JsonObject): boolean {
  const are = (...values: unknown[]) => values.every((value) => typeof value === 'string')
  if (type === 'text') return are(text)
  if (type === 'image' || type === 'audio') return are(data, mimeType) && readBase64(data as string) === data
  if (type === 'resource_link') return are(uri, name)
  return type === 'resource' && isObject(resource) && are(resource.uri, resource.text ?? resource.blob)
}

/** Returns a picture or a sound with its data as base64, and with the type that its data says if it has none. */
function withMedia(part: JsonObject): JsonObject {
  const { data } = part
  if (typeof data !== 'string') return part
  const plain = readBase64(data)
  if (plain === null) return part
  const { mimeType = /^data:([\w.+-]+\/[\w.+-]+)/i.exec(data)?.[1] ?? mediaTypeOf(plain) } = part
  return { ...part, data: plain, ...(mimeType && { mimeType }) }
}

function withPlainBlob(resource: JsonObject): JsonObject {
  const { blob } = resource
  const plain = typeof blob === 'string' ? readBase64(blob) : null
  return plain === null ? resource : { ...resource, blob: plain }
}

function withoutNull(value: JsonObject, names: readonly string[] = Object.keys(value)): JsonObject {
  if (!names.some((name) => value[name] === null)) return value
  return Object.fromEntries(Object.entries(value).filter(([name, member]) => member !== null || !names.includes(name)))
}
