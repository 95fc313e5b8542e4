import type { ModelAnswer } from '@episodic/env'
import { writtenTokens } from '@episodic/models/answers/answer-cost'
import type { ModelProxy } from '@episodic/models/gateway/model-proxy'
import type { EpisodeJournal } from '@episodic/models/journal/model-journal'
import { AnswerLog, type TimedAnswer } from '@episodic/models/record/answer-log'
import { type Completion, jsonObjectSchema, type Transcript } from '@episodic/protocol'
import { completionSchema } from '@episodic/protocol/internal'
import { HarnessError } from '@episodic/run/base/harness-error'
import { z } from 'zod'
import type { AgentAnswer } from './agent.ts'

export type AgentModels = ReturnType<typeof openAgentModels>

/**
 * Opens the models of one episode: with an address at the proxy, if there is one.
 *
 * @param journal - has the answers that an earlier process kept of it. Default: none.
 */
export function openAgentModels(proxy: ModelProxy | null, journal?: Promise<EpisodeJournal> | null) {
  const proxied = proxy?.open(journal)
  const own = new AnswerLog()
  return {
    modelUrl: proxied?.url ?? null,
    modelKey: proxied?.key ?? null,
    record(answer: AgentAnswer): void {
      const { request, ...completion } = answerOf(answer)
      const shared = request && own.share(request)
      own.add({ ...completion, ...(shared && { request: shared }) })
    },
    /** Who recorded: the agent itself if it has recorded anything, else the proxy; `null` if nobody did. */
    get by(): Transcript['by'] | null {
      if (own.answers.length > 0) return 'agent'
      return proxied ? 'proxy' : null
    },
    /** In the order in which they ended. What the agent recorded takes the place of what the proxy did. */
    answers: (): readonly TimedAnswer[] => (own.answers.length > 0 ? own.answers : (proxied?.answers() ?? [])),
    /** Takes the keys that the agent sent to its models out of a text. */
    redact: (text: string) => proxied?.redact(text) ?? text,
    [Symbol.dispose]: () => proxied?.[Symbol.dispose](),
  }
}

const requestSchema = z.object({ messages: z.array(jsonObjectSchema), tools: z.array(jsonObjectSchema).default([]) })
const answerSchema = z.intersection(completionSchema, z.object({ request: requestSchema.optional() }))

function answerOf(given: AgentAnswer): ModelAnswer {
  const { calls = [], ...rest } = Object(given) as AgentAnswer
  const counted: Partial<Completion> = { promptTokens: 0, completionTokens: 0, cost: null, text: null }
  const played = Array.isArray(calls) ? calls.map((call) => ({ ...call, played: false })) : calls
  const parsed = answerSchema.safeParse({ ...counted, ...rest, ...(calls.length !== 0 && { calls: played }) })
  if (parsed.success) {
    const { prompt: _, cut: __, ...answer } = parsed.data
    const { completionTokens, reasoningTokens = null } = answer
    return { ...answer, completionTokens: writtenTokens({ completionTokens, reasoningTokens, beside: null }) }
  }
  throw new HarnessError(
    'completion-invalid',
    `record() was given something other than a completion: ${z.prettifyError(parsed.error)}`,
  )
}
