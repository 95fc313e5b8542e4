import type { Elicitation } from '@episodic/env'
import type { JsonObject, LimitsRequest, Rng } from '@episodic/protocol'
import { z } from 'zod'
import type { McpServer } from '../servers/command-line.ts'
import type { ServerCall } from '../servers/trail.ts'
import type { ToolChoice } from './choose-tools.ts'

/** The parameters of an environment that declares none: what a task asks, and whatever else it has. */
export const anyParams = z.looseObject({ prompt: z.string().optional() })

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
  /**
   * How the server is to be used, which the player reads before that text. Default: what the server says of it. Give
   * `''` for nothing, or words of your own where tools are hidden or renamed.
   */
  readonly instructions?: string
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
   * Whether the player has `list_tools` and `call_tool`, by which it finds and calls tools that the server lists later.
   * An answer says when the list has changed. They reach all tools, hidden ones too. Default `false`: the player has
   * the tools that were listed at first.
   */
  readonly toolList?: boolean
  /**
   * Answers the questions that the server asks its user during a call (elicitation): with the content of its form, or
   * with `null`, which declines. Default: the client declares no support for such questions, and the server may list
   * fewer tools.
   */
  readonly elicit?: (
    question: Elicitation & { readonly params: z.output<NoInfer<Params>> },
  ) => JsonObject | null | Promise<JsonObject | null>
  /** Judges the episode after `done`, and at the last step of the limit. Default: 0, and graders judge the run. */
  readonly score?: Score<z.output<NoInfer<Params>>>
  /** Returns whether a score is a success. Default: if it is at least 1. */
  readonly success?: (score: number) => boolean
  readonly limits?: LimitsRequest
  /** Seconds that the server has to start, and to answer for the first time. Default 120. */
  readonly startSeconds?: number
  /** Seconds that it has for each call, at most 120. Default 60. */
  readonly callSeconds?: number
}
