import { fileURLToPath } from 'node:url'
import type { Elicitation } from '@episodic/env'
import { defineEnvironment, type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { findMadeOf } from '@episodic/mcp-server/internal'
import type { JsonObject, LimitsRequest, Rng } from '@episodic/protocol'
import { z } from 'zod'
import { RecordedServer } from '../recording/recorded-server.ts'
import { Recording } from '../recording/recording.ts'
import { DONE } from '../recording/recording-writer.ts'
import { toolAnswerShape } from '../servers/call-tool.ts'
import { type McpServer, targetOf, toName } from '../servers/command-line.ts'
import { EpisodeServer, type PlayedServer, type ServerPlan } from '../servers/episode-server.ts'
import { EpisodeServers } from '../servers/episode-servers.ts'
import { type ListedTool, toolsOfMethods } from '../servers/other-methods.ts'
import { changesOf, readFolder, type SavedFolder } from '../servers/saved-folder.ts'
import { NO_CALLS, type ServerCall, serverCallSchema, trailOf, worldCallsSchema } from '../servers/trail.ts'
import { chooseTools, type ToolChoice } from './choose-tools.ts'

/** The parameters of an environment that declares none: what a task asks, and whatever else it has. */
const anyParams = z.looseObject({ prompt: z.string().optional() })

/** What the functions of an environment have of an episode. */
export interface McpEpisode<Params> {
  readonly params: Params
  /** The folder of the episode, which is removed after it. */
  readonly folder: string
  /**
   * Calls any tool of the server, by the server's own name for it, or another method of MCP: `resources/list`,
   * `resources/read`, `prompts/list` or `prompts/get`. Resolves with the answer. The player does not see the call.
   * Rejects if the tool reports an error.
   */
  call(tool: string, args?: JsonObject): Promise<{ readonly text: string; readonly structured: JsonObject | null }>
}

/** The argument of `score`: an episode whose player has finished, or has used up its steps. */
export interface ScoreContext<Params> extends McpEpisode<Params> {
  /** The player's answer; `null` if it gave none. */
  readonly answer: string | null
  /** The player's calls, oldest first, with what the server answered. */
  readonly transcript: readonly ServerCall[]
}

/** Judges an episode. Returns a number, which is the reward, or whether it succeeded. */
export type Score<Params = z.output<typeof anyParams>> = (
  context: ScoreContext<Params>,
) => number | boolean | Promise<number | boolean>

/** The argument of `defineMcpEnvironment`. */
export interface McpEnvironmentSpec<Params extends z.ZodType = typeof anyParams> {
  /**
   * A command line, the URL of a server over HTTP, or an entry of an `mcpServers` file. Each episode has a process of
   * its own, or an MCP session of its own at the URL. `{folder}` in a command stands for the folder of the episode, as
   * in `MEMORY_FILE_PATH={folder}/memory.json npx -y @modelcontextprotocol/server-memory`.
   */
  readonly server?: McpServer
  /**
   * In place of a server: a file that `episodic record` has made. Tools, parameters, texts, limits and scores are those
   * of the recording unless they are given here. A call that was not recorded is answered by nobody: the episode is
   * void (`not-recorded`).
   */
  readonly recording?: string | URL
  /** Lower-case words joined by hyphens. Default: from the server's program, package or host. */
  readonly name?: string
  /** Semantic version. Change it when the server, the set-up or the score changes. Default 1.0.0. */
  readonly version?: string
  /** Default: that the tools are those of the server. */
  readonly description?: string
  /** Schema of what a task may set. Default: a `prompt` and anything else. */
  readonly params?: Params
  /** Returns the text that the player sees first. Default: how to finish. */
  readonly observe?: (params: z.output<NoInfer<Params>>) => string
  /** A folder whose content is copied into the folder of each episode. Default: the folder is empty. */
  readonly files?: string | URL
  /**
   * Says that all that the server keeps is in the folder of the episode, such as a database. Each step saves what the
   * server has changed there, at most some 500,000 bytes. So sessions can be forked, and go on in another process: with
   * a new server over a copy. Default `false`.
   */
  readonly stateInFolder?: boolean
  /** Sets the server up before the first call of the player. `rng` is the chance of the episode's seed. */
  readonly setup?: (episode: McpEpisode<z.output<NoInfer<Params>>> & { readonly rng: Rng }) => void | Promise<void>
  /** Which tools the player has, and how they are called. Default: all, as the server lists them. */
  readonly tools?: ToolChoice
  /** Whether the player has `list_resources` and `read_resource`. Default `false`. */
  readonly resources?: boolean
  /** Whether the player has `list_prompts` and `get_prompt`. Default `false`. */
  readonly prompts?: boolean
  /**
   * Answers the questions that the server asks its user during a call (elicitation): with the content of its form, or
   * with `null`, which declines. Default: the client declares no support for such questions, and the server may list
   * fewer tools.
   */
  readonly elicit?: (
    question: Elicitation & { readonly params: z.output<NoInfer<Params>> },
  ) => JsonObject | null | Promise<JsonObject | null>
  /**
   * Judges the episode once the player has called `done`, and at the last step of the limit. Default: the reward is 0,
   * and graders judge the run.
   */
  readonly score?: Score<z.output<NoInfer<Params>>>
  /** Returns whether a score is a success. Default: if it is at least 1. */
  readonly success?: (score: number) => boolean
  readonly limits?: LimitsRequest
  /** Seconds that the server has to start, and to answer for the first time. Default 120. */
  readonly startSeconds?: number
  /** Seconds that it has for each call, at most 120. Default 60. */
  readonly callSeconds?: number
}

const preparedSchema = worldCallsSchema.extend({
  ...toolAnswerShape,
  /** Names the calls of the player, and their answers, this one included. */
  trail: z.string(),
  /** What has changed in the folder, by path, if that is saved; `null` for what is gone. */
  files: z.record(z.string(), z.string().nullable()).optional(),
})

const publicSchema = z.object({
  /** The player's calls that the server has answered. */
  calls: z.int(),
  /** Names these calls and their answers. */
  trail: z.string(),
  /** Which of the recorded starts of its task the episode has: 0 for a live server. */
  start: z.int(),
})

const privateSchema = z.object({
  /** `null` until it is judged. */
  score: z.number().nullable(),
  /** Names the calls that set the server up, and their answers. */
  setup: z.string(),
  /** The folder of the episode, and the calls of the player, if they are saved. */
  saved: z.object({ files: z.record(z.string(), z.string()), transcript: z.array(serverCallSchema) }).optional(),
})

type Kept = { readonly public: z.output<typeof publicSchema>; readonly private: z.output<typeof privateSchema> }

/** Seconds: setting up and judging may take many calls, each of which has a limit of its own. */
const PREPARING = 86_400

const FINISH = 'Call done when you have finished.'

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
  spec: McpEnvironmentSpec<Params>,
): Promise<EnvironmentDefinition> {
  const recording = recordingOf(spec)
  const plan = recording ? null : planOf(spec)
  const { header } = recording ?? {}
  const { name = header?.environment.name ?? toName(targetOf(spec.server as McpServer)) } = spec
  const { version = header?.environment.version ?? '1.0.0' } = spec
  const { description = header?.description ?? `The tools of the MCP server ${name}. ${FINISH}` } = spec
  const {
    limits = header?.limits ?? {},
    tools: choice = header?.choice ?? {},
    setup,
    score,
    elicit,
    stateInFolder = false,
  } = spec
  const { observe = recording ? (params: unknown) => recording.taskOf(params).text : () => FINISH } = spec
  const isScored = score !== undefined || header?.scored === true
  const isSuccess = (value: number) => (recording && !score ? recording.successes.has(value) : value >= 1)
  const { success = isSuccess } = spec
  // A run that is replayed has the tools that were listed when it was played.
  const madeOf = header ?? findMadeOf(name)
  const tools = madeOf ? (madeOf.tools as unknown as ListedTool[]) : await listOnce(plan as ServerPlan, spec)
  const chosen = chooseTools(name, tools, choice)
  const servers = new EpisodeServers()
  const isSaved = stateInFolder && !recording

  const setUp = async (server: PlayedServer, { params, rng }: Preparing): Promise<ServerCall[]> => {
    const made: ServerCall[] = []
    await setup?.(episodeOf(server, params, made, { rng }))
    return made
  }
  /** Returns the server of a session. The first call of the session starts and sets it up. */
  const liveServerOf = (plan: ServerPlan, context: Preparing): Promise<PlayedServer> =>
    servers.of(context.session, context.state.public.trail, () => startFor(plan, context), stateInFolder)
  const startFor = async (plan: ServerPlan, context: Preparing): Promise<EpisodeServer> => {
    const { saved } = context.state.private
    const { calls, trail } = context.state.public
    const answer: Parameters<typeof EpisodeServer.start>[1] = elicit
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
      server.setup = await setUp(server, context)
      return server
    } catch (error) {
      await server.close()
      throw error
    }
  }
  /** Returns what the server has changed in its folder, if that is saved. */
  const changesIn = async (server: PlayedServer, { state: { private: kept } }: Preparing) => {
    if (!kept.saved) return {}
    const files = changesOf(kept.saved.files, await readFolder(server.folder))
    const { length } = JSON.stringify(files)
    if (length <= MOST_SAVED) return { files }
    throw new ServerError(
      'rules-failed',
      `The server has changed its folder by ${length} characters of base64 in one step, and at most ${MOST_SAVED} are saved. Leave stateInFolder out.`,
    )
  }
  const ourNames = new Map(chosen.map(({ theirs, ours }) => [theirs, ours]))
  /** Returns a recording where the state of a session says that it stands. */
  const recordedServerOf = async (recording: Recording, context: Preparing): Promise<PlayedServer> => {
    const { state, rng } = context
    const { trail, calls } = state.public
    const at = (start: number, at: number) =>
      new RecordedServer(recording, { start, at, rng, nameOf: (tool) => ourNames.get(tool) ?? tool })
    if (calls > 0 || !setup)
      return at(recording.find(state.private.setup, NO_CALLS), recording.find(state.private.setup, trail))
    const server = at(0, 0)
    server.setup = await setUp(server, context)
    recording.find(trailOf(server.setup), NO_CALLS)
    return server
  }
  /** Returns the server of a session. */
  const serverOf = (context: Preparing) =>
    recording ? recordedServerOf(recording, context) : liveServerOf(plan as ServerPlan, context)
  const judge = async (server: PlayedServer, params: unknown, answer: string | null) => {
    if (!score) return { score: server.recordedScore?.(params, answer) ?? null }
    const made: ServerCall[] = []
    const { transcript } = server
    const given = await score(episodeOf(server, params, made, { answer, transcript: [...transcript] }))
    const value = Number(given)
    if ((typeof given === 'number' || typeof given === 'boolean') && Number.isFinite(value))
      return { score: value, judging: bounded(made) }
    throw new TypeError(`score returned ${String(given)}. Return a finite number, or whether the episode succeeded.`)
  }
  /** Returns the calls that were recorded there. Nothing else is answered. */
  const legalCalls = (
    recording: Recording,
    params: unknown,
    seen: Kept['public'],
  ): { readonly [tool: string]: true | readonly JsonObject[] } => {
    const calls = recording.legal(params, seen.trail, setup ? null : seen.start)
    const ends = !isScored || calls.size === 0 ? true : (calls.get(DONE) ?? [])
    return { ...Object.fromEntries(chosen.map(({ theirs, ours }) => [ours, calls.get(theirs) ?? []])), [DONE]: ends }
  }
  const setupOf = ({ state }: Preparing, server: PlayedServer) =>
    state.public.calls === 0 ? { setup: bounded(server.setup) } : {}
  const apply = (state: Kept, { setup, score }: z.output<typeof worldCallsSchema>) => {
    if (setup) state.private.setup = trailOf(setup)
    state.private.score = score
  }

  const environment = defineEnvironment({
    name,
    version,
    description,
    params: (spec.params ?? anyParams) as z.ZodType,
    state: { public: publicSchema, private: privateSchema },
    limits,
    madeOf: {
      tools,
      description,
      limits,
      scored: score !== undefined,
      choice: spec.tools ?? {},
    } as unknown as JsonObject,
    start({ params, rng }) {
      // A set-up that is a function here is called before the first step.
      const [start, began] = recording && !setup ? recording.startOf(params, rng) : [0, NO_CALLS]
      return {
        public: { calls: 0, trail: NO_CALLS, start },
        private: { score: null, setup: began, ...(isSaved && { saved: { files: {}, transcript: [] } }) },
      }
    },
    // What the server answers reaches the player as it is.
    observe: ({ calls }, params) => (calls === 0 ? observe(params as never) : ''),
    ...(recording && {
      legal: (seen: Kept['public'], params: unknown) => legalCalls(recording, params, seen),
      forkable: true,
      check: { waive: { 'legal-missing': 'Listed are the calls after which an end was recorded.' } },
    }),
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
            prepareSeconds: PREPARING,
            ...(recording ? { repeatable: true } : !isSaved && { effect: 'external' }),
            async prepare(context) {
              const server = await serverOf(context)
              const answer = await server.play(theirs, context.input as JsonObject, ours)
              const { trail } = server
              const judged = context.isLast ? await judge(server, context.params, null) : { score: null }
              return { ...setupOf(context, server), ...answer, trail, ...judged, ...(await changesIn(server, context)) }
            },
            play({ state, input, prepared, attach, say }) {
              for (const { data, mimeType } of prepared.attachments ?? []) attach(data, mimeType)
              state.public.calls += 1
              state.public.trail = prepared.trail
              apply(state, prepared)
              const { saved } = state.private
              for (const [path, content] of Object.entries(prepared.files ?? {})) {
                if (content === null) delete saved?.files[path]
                else if (saved) saved.files[path] = content
              }
              const { text, structured, isError } = prepared
              saved?.transcript.push({ tool: ours, arguments: input as JsonObject, text, structured, isError })
              return say(prepared.text, {})
            },
          }),
        ]),
      ),
      done: tool({
        description: 'Say that you have finished. It ends the task.',
        input: z.object({ answer: z.string().optional().describe('Your answer, if the task asks for one.') }),
        output: z.object({}),
        prepared: worldCallsSchema,
        prepareSeconds: PREPARING,
        ...(recording && { repeatable: true }),
        async prepare(context) {
          const server = await serverOf(context)
          const judged = await judge(server, context.params, context.input.answer ?? null)
          return { ...setupOf(context, server), ...judged }
        },
        play({ state, prepared, end, say }) {
          apply(state, prepared)
          end('done')
          return say('Done.', {})
        },
      }),
    }),
    rewards: {
      score: ({ before, after }) => (before.private.score === null ? (after.private.score ?? 0) : 0),
    },
    ...(isScored && {
      success: ({ state }: { readonly state: Kept }) => state.private.score !== null && success(state.private.score),
    }),
    ...(isSaved && { forkable: true }),
    ...(!recording && {
      release: (session: string) => servers.release(session),
      // The server gets no seed: that of an episode is for its set-up alone.
      guarantees: { system: 'mcp', replay: true, delivery: isSaved ? 'exactly-once' : 'at-most-once', seed: 'ignored' },
    }),
  })
  return environment
}

interface Preparing {
  readonly session: string
  readonly state: {
    readonly public: Kept['public']
    readonly private: Omit<Kept['private'], 'saved'> & {
      readonly saved?: { readonly files: SavedFolder; readonly transcript: readonly unknown[] } | undefined
    }
  }
  readonly params: unknown
  readonly rng: Rng
}

function recordingOf({ name, server, recording }: McpEnvironmentSpec<z.ZodType>): Recording | null {
  if ((server === undefined) === (recording === undefined))
    throw new ServerError(
      'option-invalid',
      `${name ?? 'An environment'} needs either a server or a recording of one, and has ${server === undefined ? 'neither' : 'both'}.`,
    )
  return recording === undefined ? null : Recording.read(recording)
}

function planOf({ server, files, startSeconds = 120, callSeconds = 60 }: McpEnvironmentSpec<z.ZodType>): ServerPlan {
  const folder = files === undefined ? null : pathOf(files)
  return { target: targetOf(server as McpServer), files: folder, startSeconds, callSeconds }
}

/** Returns the tools of a server that is started for that, and what else the player has as tools. */
async function listOnce(
  plan: ServerPlan,
  {
    elicit,
    resources,
    prompts,
  }: Pick<McpEnvironmentSpec<z.ZodType>, 'resources' | 'prompts'> & { readonly elicit?: unknown },
) {
  // Servers list other tools for a user who answers questions.
  const server = await EpisodeServer.start(plan, elicit ? () => null : null)
  try {
    return [...(await server.listTools()), ...toolsOfMethods({ resources, prompts })]
  } finally {
    await server.close()
  }
}

/**
 * Returns what a function of an environment is given.
 *
 * @param made - gets the calls that it makes.
 */
function episodeOf<Params, More extends object>(
  server: PlayedServer,
  params: unknown,
  made: ServerCall[],
  more: More,
): McpEpisode<Params> & More {
  return {
    ...more,
    params: params as Params,
    // Not before it is asked for: a recording has none.
    get folder() {
      return server.folder
    },
    async call(tool, args = {}) {
      const call = await server.call(tool, args)
      const { text, structured, isError } = call
      made.push(call)
      if (isError) throw new Error(`The server refused ${tool}, which the world itself needs: ${text}`)
      return { text, structured }
    },
  }
}

/** Characters of JSON of changed files that a step keeps. */
const MOST_SAVED = 700_000

/** Characters of JSON of the world's own calls that a step keeps, beside its answer and within the limit of both. */
const MOST_KEPT = 100_000

/** Returns calls as a step keeps them; `null` if they are too large. */
function bounded(calls: readonly ServerCall[]): ServerCall[] | null {
  return JSON.stringify(calls).length > MOST_KEPT ? null : [...calls]
}

function pathOf(files: string | URL): string {
  if (typeof files === 'string') return files
  if (files.protocol !== 'file:')
    throw new ServerError('option-invalid', `The files of an environment are in a folder, and ${files} is none.`)
  return fileURLToPath(files)
}
