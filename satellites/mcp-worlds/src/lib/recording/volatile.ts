import { ServerError } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { leaveOut } from '@episodic/protocol/internal'
import type { ToolAnswer } from '../servers/call-tool.ts'

/**
 * What differs from call to call without meaning anything, as it is written on a command line:
 *
 * - `search(requestId)`: a field of the arguments
 * - `read_graph.entities.*.updatedAt`: a field of the answer, in its data or in its text if that is JSON
 * - `snapshot/took \d+ ms/`: parts of the answer's text
 *
 * `*` stands for every tool, every field, and every entry of a list.
 */
export interface Volatile {
  /** Returns arguments as a text without what is volatile in them: equal texts are the same call. */
  callKey(tool: string, args: JsonObject): string
  /** Returns an answer as a text without what is volatile in it. */
  answerKey(tool: string, answer: ToolAnswer): string
}

type Part =
  | { readonly kind: 'arguments' | 'answer'; readonly tool: string; readonly path: readonly string[] }
  | { readonly kind: 'text'; readonly tool: string; readonly pattern: RegExp }

/**
 * Reads what is volatile. Throws `option-invalid` for what is written in another way, and for a tool that there is not.
 *
 * @param tools - the tools that may be named.
 */
export function readVolatile(written: readonly string[], tools: readonly string[]): Volatile {
  const parts = written.map((text) => readPart(text, tools))
  const of = <Kind extends Part['kind']>(kind: Kind, tool: string) =>
    parts.filter((part) => part.kind === kind && (part.tool === '*' || part.tool === tool)) as Extract<
      Part,
      { readonly kind: Kind }
    >[]
  const without = (value: Json, kind: 'arguments' | 'answer', tool: string) =>
    leaveOut(
      value,
      of(kind, tool).map(({ path }) => path),
    )
  return {
    callKey: (tool, args) => canonicalJson([tool, without(args, 'arguments', tool)]),
    answerKey(tool, { text, structured, isError, attachments = [], resources = [] }) {
      const shown = attachments.map(({ data, mimeType, uri = '' }) => [mimeType, data, uri])
      const named = resources.map(({ uri }) => uri)
      const rest = of('text', tool).reduce((left, { pattern }) => left.replaceAll(pattern, ''), text)
      const fields = of('answer', tool)
      const data = fields.length > 0 ? parsedOrNull(rest) : null
      const said = data === null ? rest : without(data, 'answer', tool)
      return canonicalJson([said, structured && without(structured, 'answer', tool), isError, shown, named])
    },
  }
}

function readPart(text: string, tools: readonly string[]): Part {
  // A name may have a full stop or a slash in it.
  const tool = ['*', ...tools]
    .filter((name) => text.startsWith(name) && /^[(./]/.test(text.slice(name.length)))
    .sort((one, other) => other.length - one.length)[0]
  if (tool === undefined)
    throw invalid(text, `It has to begin with a tool, and there is: ${[...tools, '* for all'].join(', ')}`)
  const rest = text.slice(tool.length)
  const [, argument] = /^\((.+)\)$/.exec(rest) ?? []
  if (argument !== undefined) return { kind: 'arguments', tool, path: argument.split('.') }
  const [, field] = /^\.(.+)$/.exec(rest) ?? []
  if (field !== undefined) return { kind: 'answer', tool, path: field.split('.') }
  const [, expression] = /^\/(.+)\/$/s.exec(rest) ?? []
  if (expression === undefined)
    throw invalid(
      text,
      `Write ${tool}(field) for an argument, ${tool}.field for an answer, or ${tool}/expression/ for its text`,
    )
  try {
    return { kind: 'text', tool, pattern: new RegExp(expression, 'gu') }
  } catch (cause) {
    throw invalid(text, (cause as Error).message)
  }
}

function invalid(text: string, why: string): ServerError {
  return new ServerError('option-invalid', `${JSON.stringify(text)} does not say what is volatile. ${why}.`)
}

function parsedOrNull(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
