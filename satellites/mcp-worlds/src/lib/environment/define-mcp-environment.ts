import { defineEnvironment, type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { sayResources } from '@episodic/mcp-server/internal'
import type { JsonObject } from '@episodic/protocol'
import { findUnknownKeys, formatUnknownKeys } from '@episodic/protocol/internal'
import { z } from 'zod'
import { DONE } from '../recording/recording-writer.ts'
import type { PlayedServer } from '../servers/episode-server.ts'
import { worldCallsSchema } from '../servers/trail.ts'
import { chooseTools } from './choose-tools.ts'
import { bounded, scoreEpisode, withInstructions } from './episode-functions.ts'
import { openLive } from './live-source.ts'
import { anyParams, type McpEnvironmentSpec } from './mcp-environment-spec.ts'
import { openRecorded } from './recorded-source.ts'
import type { ServerSource } from './server-source.ts'
import {
  type McpState,
  noteCall,
  noteWorldCalls,
  type Preparing,
  preparedSchema,
  privateSchemaOf,
  publicSchema,
} from './session-state.ts'

type LegalCallsByTool = Readonly<Record<string, true | readonly JsonObject[]>>

/** Seconds: setting up and judging may take many calls, each of which has a limit of its own. */
const PREPARING = 86_400

const PARTS =
  'server recording name version description params observe instructions files stateInFolder setup tools resources ' +
  'prompts toolList elicit score success limits startSeconds callSeconds'

/**
 * Makes an environment of an MCP server: its tools, and `done({ answer })`, by which the player ends the episode. It is
 * an ordinary one: a world module exports it as `environment`.
 *
 * Each call of the player is made once, outside of the rules, and its answer is recorded with the step. So a sealed
 * episode is replayed without the server, and a retry of a step gets the stored answer. If the server dies, or does not
 * answer in time, the episode is void (`state-lost`), and no reward is given.
 *
 * Starts the server once to list its tools, unless a run is replayed, which has them. Rejects with `session-lost` if
 * that fails, with `option-invalid` for a tool that the server does not have, and with `definition-invalid`.
 */
export async function defineMcpEnvironment<Params extends z.ZodType = typeof anyParams>(
  given: McpEnvironmentSpec<Params>,
): Promise<EnvironmentDefinition> {
  // The types of the parameters have done their work on the author's side.
  const spec = given as unknown as McpEnvironmentSpec
  const unknown = findUnknownKeys(PARTS.split(' '), given)
  if (unknown.length > 0)
    throw new ServerError('definition-invalid', `defineMcpEnvironment: ${formatUnknownKeys(unknown)}`)
  const source = await openSource(spec)
  const { described } = source
  const {
    name = described.name,
    version = described.version,
    description = described.description,
    limits = described.limits,
    tools: choice = described.tools,
    params = anyParams,
    observe,
    instructions = source.instructions,
    score,
    success = source.isSuccess,
  } = spec
  const isScored = score !== undefined || source.isScored
  const chosen = chooseTools(name, source.listed, choice)
  const { effect, repeatable } = source.preparation
  const preparing = { prepareSeconds: PREPARING, ...(repeatable && { repeatable }) }

  /** Returns what a step keeps of the world's own calls. An episode that is over is judged. */
  const ownCalls = async (
    server: PlayedServer,
    { state, params }: Preparing,
    over: { readonly answer: string | null } | null,
  ) => ({
    ...(state.public.calls === 0 && { setup: bounded(server.setup) }),
    ...(over ? await scoreEpisode(score, server, params, over.answer) : { score: null }),
  })
  const opening = (params: unknown) =>
    observe ? withInstructions(instructions, observe(params as never)) : source.observe(params, instructions)
  const legal = source.legal && {
    legal(seen: McpState['public'], params: unknown): LegalCallsByTool {
      const calls = source.legal?.(seen, params) ?? new Map<string, readonly JsonObject[]>()
      const ends = isScored && calls.size > 0 ? (calls.get(DONE) ?? []) : true
      return { ...Object.fromEntries(chosen.map(({ theirs, ours }) => [ours, calls.get(theirs) ?? []])), [DONE]: ends }
    },
  }

  return defineEnvironment({
    name,
    version,
    description,
    params: params as z.ZodType,
    state: { public: publicSchema, private: privateSchemaOf(spec) },
    limits,
    madeOf: {
      tools: source.listed,
      ...(instructions !== '' && { instructions }),
      ...{ description, limits, scored: isScored, choice },
    } as unknown as JsonObject,
    start: ({ params, rng }) => source.start(params, rng),
    // What the server answers reaches the player as it is.
    observe: ({ calls }, params) => (calls === 0 ? opening(params) : ''),
    tools: ({ tool }) => ({
      ...Object.fromEntries(
        chosen.map(({ theirs, ours, description, input, annotations }) => [
          ours,
          tool({
            description,
            input,
            annotations: { destructiveHint: true, ...annotations },
            output: z.object({}),
            prepared: preparedSchema,
            ...preparing,
            ...(effect && { effect }),
            async prepare(context) {
              const server = await source.serverOf(context)
              const { report } = context
              const answer = await server.play(theirs, context.input as JsonObject, { name: ours, report })
              const own = await ownCalls(server, context, context.isLast ? { answer: null } : null)
              const { saved } = context.state.private
              const files = saved && { files: await server.changesSince(saved.files) }
              return { ...own, ...answer, trail: server.trail, ...files }
            },
            play({ state, input, prepared, attach }) {
              for (const { data, mimeType, uri } of prepared.attachments ?? []) attach(data, mimeType, uri)
              noteCall(state, ours, input as JsonObject, prepared)
              noteWorldCalls(state, prepared)
              return sayResources(prepared.text, {}, prepared.resources)
            },
          }),
        ]),
      ),
      [DONE]: tool({
        description: 'Say that you have finished. It ends the task.',
        input: z.object({ answer: z.string().optional().describe('Your answer, if the task asks for one.') }),
        output: z.object({}),
        prepared: worldCallsSchema,
        ...preparing,
        async prepare(context) {
          const { answer = null } = context.input
          return ownCalls(await source.serverOf(context), context, { answer })
        },
        play({ state, prepared, end, say }) {
          noteWorldCalls(state, prepared)
          end('done')
          return say('Done.', {})
        },
      }),
    }),
    // Without a score, nothing is to be found out once the player has left.
    absent: ({ tool }) =>
      isScored
        ? tool({
            description: 'Judges what a player has left.',
            input: z.object({}),
            output: z.object({}),
            prepared: worldCallsSchema,
            ...preparing,
            prepare: async (context) => ownCalls(await source.serverOf(context), context, { answer: null }),
            play({ state, prepared, say }) {
              noteWorldCalls(state, prepared)
              return say('The episode is over.', {})
            },
          })
        : null,
    rewards: { score: ({ before, after }) => (before.private.score === null ? (after.private.score ?? 0) : 0) },
    ...(isScored && {
      success: ({ state }: { readonly state: McpState }) =>
        state.private.score !== null && success(state.private.score),
    }),
    ...legal,
    ...source.parts,
  })
}

async function openSource(spec: McpEnvironmentSpec): Promise<ServerSource> {
  const { name = 'An environment', server, recording } = spec
  if (server !== undefined && recording === undefined) return openLive(server, spec)
  if (recording !== undefined && server === undefined) return openRecorded(recording, spec)
  const has = server === undefined ? 'neither' : 'both'
  throw new ServerError('option-invalid', `${name} needs either a server or a recording of one, and has ${has}.`)
}
