import { realpathSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandTarget, type Elicitation, type HttpTarget, openChannel } from '@episodic/env'
import { disconnectPreservingSessions } from '@episodic/env/internal'
import { ServerError } from '@episodic/mcp-server'
import type { Channel, Json, JsonObject } from '@episodic/protocol'
import { mapTexts, pause, randomText } from '@episodic/protocol/internal'
import { callTool, listTools, type ToolAnswer } from './call-tool.ts'
import { FOLDER } from './command-line.ts'
import { guard, unguard } from './guard.ts'
import type { ListedTool } from './other-methods.ts'
import { type Changes, createWatchedFolder, type SavedFolder, type WatchedFolder, writeFolder } from './saved-folder.ts'
import { ServerNews } from './server-news.ts'
import { endTrace, findProcesses, MARK, type Trace } from './traces.ts'
import { NO_CALLS, type ServerCall, trailAfter } from './trail.ts'

export interface PlayersCall {
  /** The player's name for the tool. */
  readonly name: string
  /** Receives what the server says of its progress. Default: it is not asked. */
  readonly report?: ((text: string) => void) | undefined
}

/** The server of an episode as the world knows it: a live one, or a recording of one. */
export interface PlayedServer {
  readonly folder: string
  readonly setup: readonly ServerCall[]
  /** The calls of the player so far, by the player's own names for the tools. */
  readonly transcript: readonly ServerCall[]
  /** Names the calls of the player so far, with their answers. */
  readonly trail: string
  call(tool: string, args: JsonObject): Promise<ServerCall>
  play(tool: string, args: JsonObject, call: PlayersCall): Promise<ServerCall>
  recordedScore(params: unknown, answer: string | null): number | null
  /** Resolves with what has changed in the folder. Rejects with `rules-failed` for more than a step keeps. */
  changesSince(saved: SavedFolder): Promise<Changes>
}

export interface ServerPlan {
  readonly target: CommandTarget | HttpTarget
  /** A folder whose content each episode gets a copy of; `null` for an empty folder. */
  readonly files: string | null
  /** The content of the folder in place of `files`: what another server of the episode has left. */
  readonly saved?: SavedFolder
  /** Whether the player learns with an answer that the list of tools has changed. */
  readonly toolList: boolean
  /** Seconds until it has answered for the first time, from its start. */
  readonly startSeconds: number
  /** Seconds until a call is answered. */
  readonly callSeconds: number
  /** What is known of how the command of the server begins, for the later episodes. */
  readonly protocols: NonNullable<ChannelOptions['protocols']>
}

interface Said {
  readonly questions: Questions
  readonly news: ServerNews
}

const CHANGED = '[The list of tools has changed: list_tools shows it.]'

/** Characters of JSON of changed files that a step keeps. */
const MOST_SAVED = 700_000

type ChannelOptions = NonNullable<Parameters<typeof openChannel>[1]>

/** Answers a question of a server, as its user would; `null` declines. */
export type AnswerQuestion = (question: Elicitation) => JsonObject | null | Promise<JsonObject | null>

/**
 * The server of one episode: a process of its own, with a process group, a folder and a folder for temporary files, or
 * an MCP session of its own at a URL. Nothing of it is left once it is closed, nor once this process has ended.
 */
export class EpisodeServer implements PlayedServer {
  readonly folder: string
  readonly transcript: ServerCall[] = []
  setup: readonly ServerCall[] = []
  trail = NO_CALLS
  readonly #plan: ServerPlan
  readonly #trace: Trace
  readonly #channel: Channel
  readonly #questions: Questions
  readonly #watched: WatchedFolder
  readonly #news: ServerNews
  #reported = 0
  #closing: Promise<void> | null = null

  private constructor(plan: ServerPlan, trace: Trace, channel: Channel, said: Said) {
    this.#plan = plan
    this.#trace = trace
    this.folder = filesIn(trace)
    this.#watched = createWatchedFolder(this.folder, join(trace.folder, 'clock'))
    this.#channel = channel
    this.#questions = said.questions
    this.#news = said.news
  }

  /**
   * Starts a server. If that fails, nothing of it is left. Rejects with `session-lost`, which says why.
   *
   * @param answer - `null`: support for questions is not declared.
   */
  static async start(plan: ServerPlan, answer: AnswerQuestion | null): Promise<EpisodeServer> {
    const questions = new Questions()
    const news = new ServerNews()
    const mark = randomText()
    // Servers tell the real path, without links.
    const trace: Trace = { mark, folder: join(realpathSync(tmpdir()), `episodic-mcp-${mark.slice(0, 10)}`) }
    guard(trace)
    try {
      const temporary = join(trace.folder, 'tmp')
      await mkdir(temporary, { recursive: true, mode: 0o700 })
      if (plan.saved) await writeFolder(filesIn(trace), plan.saved)
      else if (plan.files === null) await mkdir(filesIn(trace))
      else await cp(plan.files, filesIn(trace), { recursive: true })
      const variables = { TMPDIR: temporary, [MARK]: mark }
      const channel = await openServer(plan, filesIn(trace), variables, {
        onMessage: (direction, message) => direction === 'received' && news.receive(message),
        ...(answer && { elicit: questions.elicit(answer) }),
      })
      return new EpisodeServer(plan, trace, channel, { questions, news })
    } catch (cause) {
      await endTrace(trace)
      unguard(trace)
      throw lost(cause)
    }
  }

  get instructions(): string {
    return this.#news.instructions.replaceAll(this.folder, FOLDER)
  }

  listTools(): Promise<ListedTool[]> {
    return this.#answered((signal) => listTools(this.#channel, signal))
  }

  /** Calls a tool once; if the answer is lost, the server is closed. `{folder}` stands for the episode's folder. */
  async call(tool: string, args: JsonObject, report?: PlayersCall['report']): Promise<ServerCall> {
    const filled = mapTexts(args, (text) => text.replaceAll(FOLDER, () => this.folder))
    const named = <T extends Json>(value: T) => mapTexts(value, (text) => text.replaceAll(this.folder, FOLDER))
    // One call is made at a time.
    this.#news.onProgress = report
    const progressToken = report && `${++this.#reported}`
    const answer = await this.#answered((signal) =>
      callTool(this.#channel, tool, filled, { signal, rename: named, progressToken }),
    )
    const text = this.#plan.toolList && this.#news.takeChangeOfTools() ? `${answer.text}\n${CHANGED}` : answer.text
    let asked: ToolAnswer['asked'] & object
    try {
      asked = this.#questions.take()
    } catch (fault) {
      // The call was made, and is in no record.
      await this.close()
      throw fault
    }
    return { tool, arguments: named(args), ...answer, text, ...(asked.length > 0 && { asked: named(asked) }) }
  }

  async play(tool: string, args: JsonObject, { name, report }: PlayersCall): Promise<ServerCall> {
    const call = await this.call(tool, args, report)
    this.transcript.push({ ...call, tool: name })
    this.trail = trailAfter(this.trail, call)
    return call
  }

  recordedScore(): null {
    return null
  }

  async changesSince(saved: SavedFolder): Promise<Changes> {
    const changes = await this.#watched.changesSince(saved)
    const { length } = JSON.stringify(changes)
    if (length <= MOST_SAVED) return changes
    throw new ServerError(
      'rules-failed',
      `The server has changed its folder by ${length} characters of base64 in one step, and at most ${MOST_SAVED} are saved. Leave stateInFolder out.`,
    )
  }

  async #answered<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#closing) throw new ServerError('session-lost', 'The MCP server of this session was closed.')
    try {
      return await within(this.#plan.callSeconds, 'It did not answer', ask)
    } catch (cause) {
      await this.close()
      throw lost(cause)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const found = await findProcesses(this.#trace.mark)
    try {
      await this.#channel.close()
    } finally {
      await endTrace(this.#trace, found)
      unguard(this.#trace)
    }
  }
}

class Questions {
  #asked: NonNullable<ToolAnswer['asked']> = []
  #fault: { readonly error: unknown } | null = null

  elicit(answer: AnswerQuestion): NonNullable<ChannelOptions['elicit']> {
    return async (question) => {
      try {
        const given = await answer(question)
        this.#asked.push({ message: question.message.toWellFormed(), answer: given })
        return given === null ? { action: 'decline' } : { action: 'accept', content: given }
      } catch (error) {
        this.#fault ??= { error }
        return { action: 'decline' }
      }
    }
  }

  /** Returns the questions since it was called before. Throws what answering one has thrown. */
  take() {
    const [asked, fault] = [this.#asked, this.#fault]
    this.#asked = []
    this.#fault = null
    if (fault) throw fault.error
    return asked
  }
}

function filesIn({ folder }: Trace): string {
  return join(folder, 'files')
}

async function within<T>(seconds: number, what: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const answered = new AbortController()
  const late = pause(seconds * 1_000, answered.signal).then(
    () => over.abort(new Error(`${what} within ${seconds} s.`)),
    () => {},
  )
  try {
    return await ask(over.signal)
  } finally {
    answered.abort()
    await late
  }
}

function lost(cause: unknown): ServerError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ServerError('session-lost', `The MCP server of this session is gone. ${why}`, { cause })
}

async function openServer(
  { target, startSeconds, protocols }: ServerPlan,
  folder: string,
  variables: Readonly<Record<string, string>>,
  listening: Pick<ChannelOptions, 'elicit' | 'onMessage'>,
): Promise<Channel> {
  if (!('url' in target))
    return openChannel({ ...inFolder(target, folder, variables), startSeconds }, { ...listening, protocols })
  const options = { ...disconnectPreservingSessions(target), ...listening }
  return within(startSeconds, 'It did not start', (signal) => openChannel(target, { ...options, signal }))
}

function inFolder(target: CommandTarget, folder: string, variables: Readonly<Record<string, string>>): CommandTarget {
  const { command, args = [], env = {}, cwd } = target
  const filled = (text: string) => text.replaceAll(FOLDER, folder)
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]))
  return {
    command: filled(command),
    args: args.map(filled),
    env: { ...variables, ...given },
    ...(cwd !== undefined && { cwd: filled(cwd) }),
  }
}
