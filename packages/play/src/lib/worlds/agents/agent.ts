import type { PolicyContext } from '@episodic/env'
import type { Completion, JsonObject, Observation } from '@episodic/protocol'

/** The input of an agent: a session URL, and the task as its player sees it. */
export interface Assignment {
  /** The session URL, an MCP server over HTTP for this agent only. It is a secret. */
  readonly url: string
  readonly task: PolicyContext['task']
  readonly observation: Observation
  /**
   * Plays words as a move of the agent, such as what its model says at the end of a turn: resolves with what it is
   * shown next, and with `null` when the episode is over. `null` in a world in which words are no move.
   */
  readonly say: ((words: string) => Promise<string | null>) | null
  readonly seed: string
  /**
   * Root of an OpenAI-compatible API that records what is asked there, for this episode only. It sends requests on to
   * `OPENAI_BASE_URL`, with the key that it receives. `null` without `--record-models`. It is a secret.
   */
  readonly modelUrl: string | null
  /**
   * With `--token-ids`: the key at `modelUrl`, which then speaks chat completions, Responses, Messages and
   * generateContent, and sends no key on. Otherwise `null`. It is a secret.
   */
  readonly modelKey: string | null
  /**
   * Records an answer of a language model. The next call of a tool is taken to follow from it. What is recorded here
   * takes the place of what was asked at `modelUrl`. Throws HarnessError `completion-invalid`.
   */
  record(answer: AgentAnswer): void
  /** Aborts when the episode has ended, or when the agent takes too long. */
  readonly signal: AbortSignal
}

/** An answer of a language model, as an agent records it. What is left out is not known. */
export interface AgentAnswer
  extends Partial<Omit<Completion, 'model' | 'calls' | 'prompt' | 'cut'>>,
    Pick<Completion, 'model'> {
  /** All tool calls of the answer, in their order. Their arguments are JSON text. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[] | undefined
  /** What the model was sent, in the shape of its API. */
  readonly request?:
    | { readonly messages: readonly JsonObject[]; readonly tools?: readonly JsonObject[] | undefined }
    | undefined
}

/**
 * A program that plays an episode with its own loop: it calls the world's tools at the session URL, and the harness
 * watches. It knows neither the seed of the episode nor its rewards.
 */
export interface Agent {
  readonly name: string
  /**
   * Plays until the episode ends, or until the agent stops. An error that it throws before the end fails the episode.
   */
  play(assignment: Assignment): Promise<void>
}

export function defineAgent(agent: Agent): Agent {
  return agent
}

export function isAgent(value: unknown): value is Agent {
  if (typeof value !== 'object' || value === null) return false
  const { name, play } = value as Partial<Agent>
  return typeof name === 'string' && typeof play === 'function'
}
