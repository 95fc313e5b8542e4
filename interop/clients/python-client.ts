import { fileURLToPath } from 'node:url'
import { type LineProgram, startLineProgram } from '../line-program.ts'
import type { Client, Connection, Mistake, Opening, ProtocolVersion, Shown, View } from './client.ts'

/** A client of the matrix that is written in Python. */
export interface PythonClient {
  readonly name: string
  /** The package under test, which its file in `python/requirements/` pins. */
  readonly package: string
  readonly requirements: string
  /** Its program in `python/`. */
  readonly program: string
  readonly protocols: readonly ProtocolVersion[]
  readonly plays: readonly (readonly [View, View])[]
  readonly sends: readonly Mistake[]
}

const BOTH: readonly ProtocolVersion[] = ['2025-11-25', '2026-07-28']

export const PYTHON_CLIENTS: readonly PythonClient[] = [
  {
    name: 'mcp',
    package: 'mcp',
    requirements: 'mcp.txt',
    program: 'mcp_client.py',
    protocols: BOTH,
    plays: [['text', 'structured']],
    sends: ['missing argument', 'unknown tool'],
  },
  {
    name: 'fastmcp',
    package: 'fastmcp',
    requirements: 'fastmcp.txt',
    program: 'fastmcp_client.py',
    protocols: BOTH,
    plays: [['text', 'structured']],
    sends: ['missing argument', 'unknown tool'],
  },
  openaiAgents({
    name: 'openai-agents',
    requirements: 'openai-agents.txt',
    // With version 2 of the Python SDK it negotiates the version, and no option selects the earlier one.
    protocols: ['2026-07-28'],
  }),
  openaiAgents({ name: 'openai-agents-mcp-1', requirements: 'openai-agents-mcp-1.txt', protocols: ['2025-11-25'] }),
  {
    name: 'pydantic-ai',
    package: 'pydantic-ai-slim',
    requirements: 'pydantic-ai.txt',
    program: 'pydantic_ai_client.py',
    protocols: BOTH,
    // It shows the structured content to the model if there is any.
    plays: [['structured', 'structured']],
    sends: ['missing argument'],
  },
  {
    name: 'langchain-mcp-adapters',
    package: 'langchain-mcp-adapters',
    requirements: 'langchain-mcp-adapters.txt',
    program: 'langchain_client.py',
    // It is made for version 1 of the Python SDK.
    protocols: ['2025-11-25'],
    plays: [['text', 'structured']],
    sends: ['missing argument'],
  },
]

/** The OpenAI Agents SDK works with either version of MCP's Python SDK, each of which has its own protocol version. */
function openaiAgents(client: Pick<PythonClient, 'name' | 'requirements' | 'protocols'>): PythonClient {
  return {
    ...client,
    package: 'openai-agents',
    program: 'openai_agents_client.py',
    plays: [
      ['text', 'text'],
      ['structured', 'structured'],
    ],
    // It checks required arguments itself, and its run ends at an unknown tool.
    sends: [],
  }
}

/** Starts the program of a client with the Python of its environment. */
export function startPythonClient(client: PythonClient, python: string, version: string): Client {
  const { name, protocols, plays, sends } = client
  const file = fileURLToPath(new URL(`../python/${client.program}`, import.meta.url))
  const program = startLineProgram(python, [file])
  return {
    name,
    version,
    protocols,
    plays,
    sends,
    connect: (opening) => open(program, opening),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

async function open(program: LineProgram, { place, protocol, view }: Opening): Promise<Connection> {
  let closed = false
  const ask = async <Answer>(question: unknown): Promise<Answer> => {
    const answer = (await program.ask(question)) as Answer & { readonly problem?: string }
    if (answer.problem === undefined) return answer
    closed = true
    throw new Error(answer.problem)
  }
  const opened = await ask<Pick<Connection, 'protocol' | 'tools'>>({ url: null, ...place, protocol, view })
  return {
    ...opened,
    call: (tool, args) => ask<Shown>({ tool, arguments: args }),
    async [Symbol.asyncDispose]() {
      if (!closed) await ask(null)
    },
  }
}
