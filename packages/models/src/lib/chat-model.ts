import type { ModelAnswer } from '@episodic/env'
import type { ModelRequest, ToolInfo } from '@episodic/protocol'
import { machineClock } from '@episodic/run/base/waiting-clock'
import { type Answer, readAnswer } from './answers/parse-answer.ts'
import { findServer } from './apis/model-server.ts'
import { temperatureOf } from './apis/recorded-api.ts'
import { type EpisodeJournal, hashRequest } from './journal/model-journal.ts'
import { createModelLimit, type ModelLimit } from './limits/model-limit.ts'
import { TOKEN_OPTIONS } from './messages/handed-tokens.ts'
import { countShared } from './messages/shared-messages.ts'
import type { Message } from './messages/transcript.ts'
import type { ModelSettings } from './model-options.ts'
import { NoAnswer } from './refusals.ts'
import { type ChatBody, Concessions } from './requests/concessions.ts'
import { type Try, timesOf } from './requests/tries.ts'
import { type WireForm, wireFormOf } from './requests/wire-form.ts'
import { withOptions } from './requests/with-options.ts'
import { createTransport } from './transport.ts'

export interface ChatModel {
  /**
   * Asks for one answer, unless the journal has it. Retries a request five times if its answer is incomplete, late, no
   * JSON, or 408, 409, 424, 425, 429, 499 or 5xx, with growing pauses or after the server's `retry-after` of up to a
   * minute. After a 429 with `retry-after`, nobody who shares the limit asks for so long. An error in an answer with
   * status 200 counts as the status that it names, and as a 5xx if it names none. A request that is refused because of
   * a field that many servers take is sent once more without it, and so are all that follow; the answers name it in
   * `leftOut`.
   *
   * Rejects with HarnessError `model-refused` for 400, 401, 402, 403, 404, 422, a spent quota, and what is not the JSON
   * of this API, none of which a retry changes; with `model-unavailable` if no request is answered; and with
   * `policy-failed` for any other status. After an abort: with the signal's reason.
   */
  ask(question: Question): Promise<Asked>
}

export interface Asked extends Answer {
  readonly request: ModelRequest
  /** Whether the answer is from the journal, and the model was not asked. */
  readonly isKept: boolean
}

export interface Question {
  readonly messages: readonly Message[]
  /** The tool that words are is not offered. */
  readonly tools: readonly ToolInfo[]
  /** The last request whose tokens the messages have. They are sent to the server if this request goes on from it. */
  readonly before?: ModelRequest | undefined
  /** The sampling seed, if the server supports one. */
  readonly seed: number
  readonly forcedTool?: string | undefined
  /** Whether an answer may have several calls. Default: `true`. */
  readonly parallelCalls?: boolean
  /** Answers that were kept of the same episode. Default: none, and none is kept. */
  readonly journal?: EpisodeJournal | null
  readonly signal?: AbortSignal | undefined
  /** Receives a request that was sent and never answered, before `ask` rejects: with its failed `tries` alone. */
  readonly onLost?: ((request: ModelAnswer) => void) | undefined
}

/**
 * Throws HarnessError `option-invalid` if its server is unknown.
 *
 * @param limit - shared with others who ask. Default: one of its own.
 */
export function createChatModel(
  name: string,
  settings: ModelSettings,
  limit: ModelLimit = createModelLimit(),
  clock = machineClock,
): ChatModel {
  const { temperature, maxTokens, modelOption = {}, prices = null, tokenIds } = settings
  const server = findServer(name, settings)
  const transport = createTransport(server, settings, limit, clock)
  const concessions = new Concessions()
  const wires = new Map<string, string>()
  const forms = new WeakMap<readonly ToolInfo[], WireForm>()
  return {
    async ask({ messages, before, tools, seed, forcedTool, parallelCalls = true, journal = null, signal, onLost }) {
      const form = forms.get(tools) ?? wireFormOf(tools, server.api, wires)
      forms.set(tools, form)
      const { handed, plain, recorded } = form.prepare(messages)
      const asked = withOptions(modelOption, {
        model: server.model,
        messages: plain,
        ...(form.functions.length > 0 && {
          tools: form.functions,
          tool_choice:
            forcedTool === undefined ? 'auto' : { type: 'function', function: { name: form.wireOf(forcedTool) } },
          ...(!parallelCalls && { parallel_tool_calls: false }),
        }),
        seed,
        ...(temperature !== undefined && { temperature }),
        ...(maxTokens !== undefined && { max_tokens: maxTokens }),
        ...(tokenIds && TOKEN_OPTIONS),
      })
      const requestOf = (): ModelRequest => ({
        messages: concessions.apply({ ...asked, messages: recorded }).messages,
        tools: asked.tools ?? [],
      })
      const goesOn = before && countShared(before, requestOf()) === before.messages.length
      const wanted = goesOn ? { ...asked, messages: handed() } : asked
      const hash = journal && hashRequest(wanted)
      const kept = hash && journal.take(hash)
      if (kept) return { ...kept, request: requestOf(), isKept: true }
      const turn = await transport.turn({ messages: recorded, tools: wanted.tools ?? [] }, signal)
      const tries: Try[] = []
      let body: ChatBody = wanted
      const send = (): Promise<unknown> => {
        body = concessions.apply(wanted)
        return transport.send(body, tries, (seed % 1_000) / 1_000, signal).catch((cause: unknown) => {
          const refusal = cause instanceof NoAnswer && [400, 422].includes(cause.reply.status ?? 0) ? cause.reply : null
          if (refusal && concessions.learn(refusal.body, body) !== null) return send()
          throw cause
        })
      }
      const said = await send().catch(async (cause: unknown) => {
        await turn.end(0)
        signal?.throwIfAborted()
        // What such a request cost is not known, and that it was sent is.
        if (tries.length > 0)
          onLost?.({
            ...{ model: server.model, promptTokens: 0, completionTokens: 0, cost: null, text: null },
            ...{ asked: name, ...timesOf(tries, 0), request: requestOf() },
          })
        throw cause
      })
      // Without -0, which is no number of JSON.
      const parsed = readAnswer(JSON.parse(JSON.stringify(said)), prices)
      const { promptTokens, completionTokens } = parsed.completion
      await turn.end(promptTokens + completionTokens)
      const { names: leftOut } = concessions
      const completion = {
        ...parsed.completion,
        ...{ asked: name, ...temperatureOf(body), ...timesOf(tries, turn.waited) },
        ...(leftOut.length > 0 && { leftOut }),
      }
      const calls = parsed.calls.map((call) => ({ ...call, name: form.nameOf(call.name) }))
      const answer = { ...parsed, calls, completion }
      if (hash) await journal.add(hash, answer)
      return { ...answer, request: requestOf(), isKept: false }
    },
  }
}
