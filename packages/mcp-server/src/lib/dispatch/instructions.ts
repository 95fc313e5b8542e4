import type { ToolInfo } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import type { Advertisement } from './server-info.ts'

export interface Explained extends Pick<Advertisement, 'instructions' | 'tools'> {
  /** The URI at which the state of the world is read, or the template of it. */
  readonly state: string
}

export const PROMPTS = [
  {
    name: 'instructions',
    title: 'How to play',
    description: 'What this world is about, and what there is to do in it.',
    arguments: [
      { name: 'tool', description: 'A tool to be explained in full, instead of all in short.', required: false },
    ],
  },
]

/** Answers `prompts/get`. Throws `invalid-params` for a prompt or a tool that there is not. */
export function getPrompt(
  explained: Explained,
  {
    name,
    arguments: { tool } = {},
  }: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> | undefined },
) {
  const [prompt] = PROMPTS
  if (name !== prompt?.name) throw invalidParams('There is no such prompt. There is: instructions.')
  const text = explain(explained, tool)
  return {
    description: prompt.description,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  }
}

function explain({ instructions, tools, state }: Explained, tool: string | undefined): string {
  const about =
    tool === undefined
      ? `The tools:\n${tools.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`
      : explainTool(tools, tool)
  return `${instructions}\n\n${about}\n\nThe state of the session can be read at any time, as the resource ${state}.`
}

function explainTool(tools: readonly ToolInfo[], asked: string): string {
  const tool = tools.find(({ name }) => name === asked)
  if (tool)
    return `${tool.name}: ${tool.description}\nIts arguments, as JSON Schema: ${JSON.stringify(tool.inputSchema)}`
  const names = tools.map(({ name }) => name).join(', ')
  throw invalidParams(`There is no such tool to be explained. The tools are: ${names}.`)
}

/** How many completions MCP allows in one answer. */
const MOST = 100

/**
 * Answers `completion/complete`. Of all arguments that MCP completes, which are those of prompts and of templates of
 * resources, a tool's name alone can be enumerated: what a template asks for is the name of a session, and that is a
 * secret. Throws `invalid-params` for a prompt that there is not.
 */
export function complete(
  tools: readonly ToolInfo[],
  ref: { readonly type: string; readonly name?: string },
  { name: argument, value }: { readonly name: string; readonly value: string },
) {
  if (ref.type === 'ref/prompt' && ref.name !== 'instructions')
    throw invalidParams('There is no such prompt. There is: instructions.')
  const names = ref.type === 'ref/prompt' && argument === 'tool' ? tools.map(({ name }) => name) : []
  const found = names.filter((name) => name.startsWith(value))
  return { completion: { values: found.slice(0, MOST), total: found.length, hasMore: found.length > MOST } }
}
