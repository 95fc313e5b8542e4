import type { Completion, JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { type Answer, readAnswer } from '../answers/parse-answer.ts'
import { lastTokens, withoutTokens, withTokens } from '../messages/handed-tokens.ts'
import type { Prices } from '../model-options.ts'
import type { ChatBody } from '../requests/concessions.ts'

/** Returns what an engine had sampled of an answer that it ended by itself; `undefined` if it says nothing of it. */
export function findPartial(body: unknown, prices: Prices | null): Answer | undefined {
  if (!isObject(body) || !Array.isArray(body.choices)) return undefined
  const [choice] = body.choices
  return isObject(choice) && choice.finish_reason === 'abort' && isObject(choice.message)
    ? readAnswer(body, prices)
    : undefined
}

/** Whether a server of chat completions can be asked to go on: half of a call, or of a thought, is no message. */
export function mayContinue({ completion, calls, message }: Answer): boolean {
  const { promptTokenIds, tokenIds = [], reasoning } = completion
  const isText = typeof message.content === 'string' && message.content !== ''
  return Boolean(promptTokenIds) && tokenIds.length > 0 && isText && calls.length === 0 && !reasoning
}

/** Returns a request that ends with what was sampled. Servers that splice tokens begin the prompt with exactly it. */
export function continuedChat(chat: ChatBody, { completion, message }: Answer): ChatBody {
  const written = completion.tokenIds?.length ?? 0
  const begun = withTokens({ role: 'assistant', content: message.content ?? '' }, completion)
  const left = LIMITS.flatMap((name) => {
    const most = chat[name]
    return typeof most === 'number' ? [[name, Math.max(1, most - written)] as const] : []
  })
  const goesOn = { continue_final_message: true, add_generation_prompt: false }
  return { ...chat, ...Object.fromEntries(left), ...goesOn, messages: lastTokens([...chat.messages, begun]) }
}

const LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/**
 * Returns two parts of an answer as one; `null` if the second one does not go on from the very tokens of the first, or
 * if a call may have begun in the first one, which no parser of the engine has read then.
 */
export function joinAnswers(
  { completion: first, message: begun }: Answer,
  then: Answer,
  chat: ChatBody,
): Answer | null {
  const { promptTokenIds = [], tokenIds = [], logProbabilities: scores } = first
  const { promptTokenIds: read = [], tokenIds: added, logProbabilities: addedScores } = then.completion
  const before = [...promptTokenIds, ...tokenIds]
  if (!added || read.length !== before.length || !before.every((id, at) => id === read[at])) return null
  const text = `${first.text ?? ''}${then.completion.text ?? ''}`
  const tools = Array.isArray(chat.tools) ? (chat.tools as { function?: JsonObject }[]) : []
  if (tools.some((tool) => text.includes(String(tool.function?.name)))) return null
  const versions = joinVersions(first, then.completion)
  const completion: Completion = {
    ...then.completion,
    ...{ promptTokens: first.promptTokens, promptTokenIds, tokenIds: [...tokenIds, ...added], text: text || null },
    completionTokens: first.completionTokens + then.completion.completionTokens,
    cost: first.cost === null || then.completion.cost === null ? null : first.cost + then.completion.cost,
    ...(scores && addedScores && { logProbabilities: [...scores, ...addedScores] }),
    ...(first.policyVersion !== undefined && { policyVersion: first.policyVersion }),
    ...(versions.length > 1 && { policyVersions: versions }),
  }
  const rest = typeof then.message.content === 'string' ? then.message.content : ''
  const message = { ...withoutTokens(then.message), content: `${begun.content ?? ''}${rest}` || null }
  return { ...then, completion, message: withTokens(message, completion) }
}

function joinVersions(...parts: readonly Completion[]): [version: string, tokens: number][] {
  const joined: [string, number][] = []
  for (const { policyVersion, policyVersions, tokenIds = [] } of parts) {
    const own = policyVersions ?? (policyVersion === undefined ? [] : [[policyVersion, tokenIds.length] as const])
    for (const [version, tokens] of own) {
      const last = joined.at(-1)
      if (last?.[0] === version) last[1] += tokens
      else joined.push([version, tokens])
    }
  }
  return joined
}
