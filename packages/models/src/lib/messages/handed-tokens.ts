import type { Completion, JsonObject } from '@episodic/protocol'

/**
 * The tokens of an answer, as fields of its message. Servers for training (NeMo Gym, NeMo RL) put them there, and when
 * they get them back they begin the next prompt with exactly these ids, in place of tokenising the text again. The ids
 * of a prompt have all earlier answers in them, so the last message alone has to carry them.
 */
const FIELDS = ['prompt_token_ids', 'generation_token_ids', 'generation_log_probs'] as const

/** Asks for tokens: vLLM returns ids for the second, and SGLang for the last two; others ignore them. */
export const TOKEN_OPTIONS = {
  logprobs: true,
  return_token_ids: true,
  return_prompt_token_ids: true,
  return_meta_info: true,
} as const

export function withTokens(
  message: JsonObject,
  { promptTokenIds: prompt, tokenIds: ids, logProbabilities: scores }: Partial<Completion>,
): JsonObject {
  if (!prompt || !ids || scores?.length !== ids.length) return withoutTokens(message)
  return { ...message, prompt_token_ids: prompt, generation_token_ids: ids, generation_log_probs: scores }
}

export function withoutTokens(message: JsonObject): JsonObject {
  if (!hasTokens(message)) return message
  return Object.fromEntries(Object.entries(message).filter(([name]) => !(FIELDS as readonly string[]).includes(name)))
}

/** Returns messages of which the last one with tokens alone has them, as they are sent. */
export function lastTokens(messages: readonly JsonObject[]): JsonObject[] {
  const last = messages.findLastIndex(hasTokens)
  return messages.map((message, i) => (i === last ? message : withoutTokens(message)))
}

function hasTokens(message: JsonObject): boolean {
  return FIELDS.some((name) => name in message)
}
