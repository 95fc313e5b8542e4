import { fileURLToPath } from 'node:url'
import { ServerError } from '@episodic/mcp-server'
import { findMadeOf } from '@episodic/mcp-server/internal'
import { type McpServer, targetOf, toName } from '../servers/command-line.ts'
import { type AnswerQuestion, EpisodeServer, type ServerPlan } from '../servers/episode-server.ts'
import { EpisodeServers } from '../servers/episode-servers.ts'
import { type ListedTool, toolsOfMethods } from '../servers/other-methods.ts'
import { NO_CALLS, type ServerCall } from '../servers/trail.ts'
import { setUp, withInstructions } from './episode-functions.ts'
import type { McpEnvironmentSpec } from './mcp-environment-spec.ts'
import type { ServerSource } from './server-source.ts'
import type { Preparing } from './session-state.ts'

const FINISH = 'Call done when you have finished.'

/** Lists a server's tools, unless a replayed run has them, and starts one an episode. Rejects: `session-lost`. */
export async function openLive(target: McpServer, spec: McpEnvironmentSpec): Promise<ServerSource> {
  const { elicit, setup, stateInFolder = false } = spec
  const { name = toName(targetOf(target)) } = spec
  const plan = planOf(target, spec)
  // A run that is replayed has the tools that were listed when it was played.
  const { tools: listed, instructions = '' } = (findMadeOf(name) ?? (await listOnce(plan, spec))) as unknown as Listed
  const servers = new EpisodeServers()
  const description = `The tools of the MCP server ${name}. ${FINISH}`
  const delivery = stateInFolder ? 'exactly-once' : 'at-most-once'
  const startFor = async (context: Preparing): Promise<EpisodeServer> => {
    const { saved } = context.state.private
    const { calls, trail } = context.state.public
    const answer: AnswerQuestion | null = elicit
      ? (question) => elicit({ ...question, params: context.params as never })
      : null
    if (saved && calls > 0) {
      const server = await EpisodeServer.start({ ...plan, saved: saved.files }, answer)
      server.transcript.push(...(saved.transcript as readonly ServerCall[]))
      server.trail = trail
      return server
    }
    const server = await EpisodeServer.start(plan, answer)
    try {
      server.setup = await setUp(setup, server, context)
      return server
    } catch (error) {
      await server.close()
      throw error
    }
  }
  return {
    described: { name, version: '1.0.0', description, limits: {}, tools: {} },
    listed,
    isScored: false,
    preparation: stateInFolder ? {} : { effect: 'external' },
    parts: {
      ...(stateInFolder && { forkable: true }),
      release: (session) => servers.release(session),
      // The server gets no seed: that of an episode is for its set-up alone.
      guarantees: { system: 'mcp', replay: true, delivery, seed: 'ignored' },
    },
    instructions,
    observe: (_, instructions) => withInstructions(instructions, FINISH),
    isSuccess: (score) => score >= 1,
    start: () => ({
      public: { calls: 0, trail: NO_CALLS, start: 0 },
      private: { score: null, setup: NO_CALLS, ...(stateInFolder && { saved: { files: {}, transcript: [] } }) },
    }),
    serverOf: (context) =>
      servers.of(context.session, context.state.public.trail, () => startFor(context), stateInFolder),
  }
}

function planOf(
  server: McpServer,
  { files, toolList = false, startSeconds = 120, callSeconds = 60 }: McpEnvironmentSpec,
): ServerPlan {
  return {
    target: targetOf(server),
    files: files === undefined ? null : pathOf(files),
    toolList,
    startSeconds,
    callSeconds,
    protocols: new Map(),
  }
}

interface Listed {
  readonly tools: readonly ListedTool[]
  readonly instructions?: string
}

async function listOnce(plan: ServerPlan, spec: McpEnvironmentSpec): Promise<Listed> {
  const { elicit, resources, prompts, toolList } = spec
  // Servers list other tools for a user who answers questions.
  const server = await EpisodeServer.start(plan, elicit ? () => null : null)
  try {
    const tools = [...(await server.listTools()), ...toolsOfMethods({ resources, prompts, toolList })]
    return { tools, instructions: server.instructions }
  } finally {
    await server.close()
  }
}

function pathOf(files: string | URL): string {
  if (typeof files === 'string') return files
  if (files.protocol !== 'file:')
    throw new ServerError('option-invalid', `The files of an environment are in a folder, and ${files} is none.`)
  return fileURLToPath(files)
}
