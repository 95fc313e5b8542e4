import type { Completion } from '@episodic/protocol'
import { z } from 'zod'
import type { ModelSettings } from './model-settings.ts'
import type { ToolCall } from './transcript.ts'

/** What a model answered. */
export interface Answer {
  readonly completion: Completion
  /** Its first call of a tool; `null` where it called none. */
  readonly call: ToolCall | null
  /** Why it stopped, in the server's word. */
  readonly finish: string
}

const ids = z.array(z.int()).nullish().catch(null)
/** Of tokens. More than anything reads is not believed, so that sums stay exact. */
const count = z.int().min(0).max(1_000_000_000).catch(0)

const callSchema = z.object({
  // Some give no id; what came of a call is told right behind it, so that any will do.
  id: z.string().min(1).catch('call'),
  function: z.object({
    name: z.string(),
    // Some give an object, and none where there is nothing to say.
    arguments: z.unknown().transform((args) => (typeof args === 'string' ? args : (JSON.stringify(args ?? {}) ?? ''))),
  }),
})

const messageSchema = z.object({
  content: z.string().nullish().catch(null),
  tool_calls: z.array(callSchema.nullable().catch(null)).nullish().catch(null),
})

/**
 * What is kept of an answer. Fields beyond OpenAI's are those of vLLM, which gives the prompt's ids beside the choices,
 * and of SGLang, which gives them with each choice; what is not of their shape is passed over.
 */
const answerSchema = z.object({
  model: z.string().catch('unknown'),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish().catch(null),
  prompt_token_ids: ids,
  choices: z
    .array(
      z.object({
        message: messageSchema.nullish().catch(null),
        finish_reason: z.string().catch('nothing'),
        prompt_token_ids: ids,
        token_ids: ids,
        logprobs: z
          .object({ content: z.array(z.object({ logprob: z.number() })).nullish() })
          .nullish()
          .catch(null),
      }),
    )
    .catch([]),
})

/** Reads what an OpenAI-compatible server answered; `null` for what is no answer of such a server at all. */
export function answerOf(answer: unknown, prices: ModelSettings['prices']): Answer | null {
  const parsed = answerSchema.safeParse(answer)
  if (!parsed.success) return null
  const { model, usage, prompt_token_ids, choices } = parsed.data
  const choice = choices[0]
  const promptTokens = usage?.prompt_tokens ?? 0
  const completionTokens = usage?.completion_tokens ?? 0
  const promptTokenIds = prompt_token_ids ?? choice?.prompt_token_ids
  const logprobs = choice?.logprobs?.content
  const call = choice?.message?.tool_calls?.find((call) => call !== null)
  return {
    completion: {
      model,
      promptTokens,
      completionTokens,
      cost: prices && (promptTokens * prices.prompt + completionTokens * prices.completion) / 1_000_000,
      text: choice?.message?.content || null,
      ...(promptTokenIds && { promptTokenIds }),
      ...(choice?.token_ids && { tokenIds: choice.token_ids }),
      ...(logprobs && { logProbabilities: logprobs.map(({ logprob }) => logprob) }),
    },
    call: call ? { id: call.id, ...call.function } : null,
    finish: choice?.finish_reason ?? 'nothing',
  }
}
