import type { WaitOptions } from '@episodic/mcp-client'
import type { JsonObject } from '@episodic/protocol'
import { AgentError, type AgentErrorCode } from '../agent-error.ts'
import type { SessionTool } from '../connection/session-tool.ts'
import { refusedAnswer, type ToolAnswer } from '../connection/tool-answer.ts'
import type { McpSession } from './mcp-session.ts'

export interface AgentTool {
  /** The name that the model calls it by. See `nameTools`. */
  readonly name: string
  readonly server: string
  /** The tool as the server lists it, with its original name. */
  readonly tool: SessionTool
  /**
   * Calls the tool. A mistake of the model is an answer with `isError`. A fault that the model cannot fix, for example
   * a lost session, rejects with an `AgentError`, which ends the agent's run.
   */
  call(args: JsonObject, options?: WaitOptions): Promise<ToolAnswer>
}

/** Errors that the model sees, without an end of the run. */
const PASSING: readonly AgentErrorCode[] = ['tool-unknown', 'call-refused', 'call-timed-out', 'answer-malformed']

/** The most characters of a name that model APIs accept. */
const LONGEST_NAME = 64

/** Returns the tools of an MCP or agent session. Throws `config-invalid` for all else, such as a promise. */
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
 * Gives tools unique names. A tool keeps its name, with `_` for every character except letters, digits, `_` and `-`. If
 * a tool of another server or a local function (`taken`) has the same name, the name becomes `<server>__<tool>`, for
 * the other server's tool too.
 *
 * Throws `config-invalid` for a name that is still not unique, or longer than 64 characters.
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
