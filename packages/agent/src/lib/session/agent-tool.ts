import type { JsonObject } from '@episodic/protocol'
import { AgentError, type AgentErrorCode } from '../agent-error.ts'
import type { WaitOptions } from '../connection/connection.ts'
import type { SessionTool } from '../connection/session-tool.ts'
import { refusedAnswer, type ToolAnswer } from '../connection/tool-answer.ts'
import type { McpSession } from './mcp-session.ts'

/** A tool as a model gets to see it. */
export interface AgentTool {
  /** The name that the model calls it by. See `nameTools`. */
  readonly name: string
  /** The server that it is of. */
  readonly server: string
  /** What that server lists about it, its own name for it among that. */
  readonly tool: SessionTool
  /**
   * Calls it. What the model can do better is an answer with `isError`. What it cannot, such as a lost session, rejects
   * with an `AgentError`, and is the end of the agent's run.
   */
  call(args: JsonObject, options?: WaitOptions): Promise<ToolAnswer>
}

/** What a model can be told, and go on. */
const PASSING: readonly AgentErrorCode[] = ['tool-unknown', 'call-refused', 'call-timed-out', 'answer-malformed']

/** Characters that a name may have where models are served. */
const LONGEST_NAME = 64

/**
 * The tools of one session or of an agent's several, by their own names. Throws `config-invalid` for what is no session,
 * such as the promise of one.
 */
export function agentToolsOf(
  session: McpSession | { readonly tools: readonly AgentTool[]; readonly session: unknown },
): readonly AgentTool[] {
  if (!Array.isArray(session?.tools))
    throw new AgentError('config-invalid', 'The mcpSession is no session. Open one, await it, and hand that over.')
  if ('session' in session) return session.tools
  return session.tools.map((tool) =>
    agentTool(session.server, tool, (args, options) => session.callTool(tool.name, args, options)),
  )
}

/** Makes one tool, called by its own name. */
export function agentTool(server: string, tool: SessionTool, call: AgentTool['call']): AgentTool {
  return {
    name: plain(tool.name),
    server,
    tool,
    async call(args, options) {
      try {
        return await call(args, options)
      } catch (error) {
        if (AgentError.is(error) && PASSING.includes(error.code)) return refusedAnswer(error.message)
        throw error
      }
    },
  }
}

/**
 * Names tools so that no two have one name. A tool keeps its own, with `_` for what models are not served with (letters,
 * digits, `_` and `-` are), unless another server's tool or a local function (`taken`) has that name too: then it is
 * called `<server>__<tool>`, and so is the other server's.
 *
 * Throws `config-invalid` where that is still not enough, or longer than 64 characters.
 */
export function nameTools(tools: readonly AgentTool[], taken: Iterable<string> = []): AgentTool[] {
  const local = new Set(taken)
  const owners = Map.groupBy(tools, ({ tool }) => plain(tool.name))
  const used = new Set(local)
  return tools.map((tool) => {
    const own = plain(tool.tool.name)
    const clashes = local.has(own) || owners.get(own)!.length > 1
    const name = clashes ? `${plain(tool.server)}__${own}` : own
    if (used.has(name) || name.length > LONGEST_NAME)
      throw new AgentError(
        'config-invalid',
        `The tool ${tool.tool.name} of ${tool.server} would be called ${name}, which ${used.has(name) ? 'another tool is called' : `is longer than ${LONGEST_NAME} characters`}. Rename the server or the local function.`,
        { details: { server: tool.server, tool: tool.tool.name } },
      )
    used.add(name)
    return { ...tool, name }
  })
}

function plain(name: string): string {
  return name.replace(/[^\w-]/g, '_')
}
