import { fileURLToPath } from 'node:url'
import type { Client, Connection, Era, Mistake, Opening, Shown, View } from './client.ts'
import { type LineProgram, startLineProgram } from './line-program.ts'

/** A client of the matrix that is written in Python. */
export interface PythonClient {
  readonly name: string
  /** The package under test, which its file in `python/requirements/` pins. */
  readonly package: string
  readonly requirements: string
  /** Its program in `python/`. */
  readonly program: string
  readonly eras: readonly Era[]
  readonly plays: readonly (readonly [View, View])[]
  readonly sends: readonly Mistake[]
}

const BOTH: readonly Era[] = ['2025-11-25', '2026-07-28']

export const PYTHON_CLIENTS: readonly PythonClient[] = [
  {
    name: 'mcp',
    package: 'mcp',
    requirements: 'mcp.txt',
    program: 'mcp_client.py',
    eras: BOTH,
    plays: [['text', 'structured']],
    sends: ['missing argument', 'unknown tool'],
  },
  {
    name: 'fastmcp',
    package: 'fastmcp',
    requirements: 'fastmcp.txt',
    program: 'fastmcp_client.py',
    eras: BOTH,
    plays: [['text', 'structured']],
    sends: ['missing argument', 'unknown tool'],
  },
  openaiAgents({
    name: 'openai-agents',
    requirements: 'openai-agents.txt',
    // With version 2 of the Python SDK it asks what the server speaks, and there is no option for the era before.
    eras: ['2026-07-28'],
  }),
  openaiAgents({ name: 'openai-agents-mcp-1', requirements: 'openai-agents-mcp-1.txt', eras: ['2025-11-25'] }),
  {
    name: 'pydantic-ai',
    package: 'pydantic-ai-slim',
    requirements: 'pydantic-ai.txt',
    program: 'pydantic_ai_client.py',
    eras: BOTH,
    // It shows the structured content to the model wherever there is some.
    plays: [['structured', 'structured']],
    sends: ['missing argument'],
  },
  {
    name: 'langchain-mcp-adapters',
    package: 'langchain-mcp-adapters',
    requirements: 'langchain-mcp-adapters.txt',
    program: 'langchain_client.py',
    // It is made for version 1 of the Python SDK.
    eras: ['2025-11-25'],
    plays: [['text', 'structured']],
    sends: ['missing argument'],
  },
]

/** The OpenAI Agents SDK takes either version of the Python SDK of MCP, each of which speaks its own era. */
function openaiAgents(client: Pick<PythonClient, 'name' | 'requirements' | 'eras'>): PythonClient {
  return {
    ...client,
    package: 'openai-agents',
    program: 'openai_agents_client.py',
    plays: [
      ['text', 'text'],
      ['structured', 'structured'],
    ],
    // It looks for required arguments itself, and its run ends at a tool that there is not.
    sends: [],
  }
}

/** Starts the program of a client with the Python of its environment. */
export function startPythonClient(client: PythonClient, python: string, version: string): Client {
  const { name, eras, plays, sends } = client
  const file = fileURLToPath(new URL(`./python/${client.program}`, import.meta.url))
  // `-B`: no compiled files beside the sources.
  const program = startLineProgram(python, ['-B', file])
  return {
    name,
    version,
    eras,
    plays,
    sends,
    connect: (opening) => open(program, opening),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

async function open(program: LineProgram, { place, era, view }: Opening): Promise<Connection> {
  let closed = false
  const ask = async <Answer>(question: unknown): Promise<Answer> => {
    const answer = (await program.ask(question)) as Answer & { readonly problem?: string }
    if (answer.problem === undefined) return answer
    closed = true
    throw new Error(answer.problem)
  }
  const opened = await ask<Pick<Connection, 'era' | 'tools'>>({ url: null, ...place, era, view })
  return {
    ...opened,
    call: (tool, args) => ask<Shown>({ tool, arguments: args }),
    async [Symbol.asyncDispose]() {
      if (!closed) await ask(null)
    },
  }
}
