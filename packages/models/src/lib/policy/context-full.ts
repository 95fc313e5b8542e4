import { NoAnswer } from '../refusals.ts'

/**
 * Whether a request was refused because it is longer than the context of its model. Servers have no common code for it,
 * so their words decide. Ask this only of requests that follow an answered one with the same options: of others, the
 * words may be about an option, such as a maximum of tokens.
 */
export function isContextFull(error: unknown): error is NoAnswer {
  if (!(error instanceof NoAnswer)) return false
  const { status, code, body } = error.reply
  // Of a body, 413 has no other meaning.
  if (status === 413 || code === 'context_length_exceeded') return true
  return (status === 400 || status === 422) && TOO_LONG.some((words) => words.test(body))
}

/** As OpenAI, vLLM, SGLang, llama.cpp, TGI, Anthropic, Gemini, Mistral and Cohere say it. */
const TOO_LONG = [
  /context[ _-](?:length|window|size|limit)/i,
  /maximum model length/i,
  /(?:prompt|input|request) (?:is )?too (?:long|large)/i,
  /too many tokens/i,
  /tokens?\b.*(?:exceed|too large|must (?:be <|have less))/i,
  /must have less than \d+ tokens/i,
  /(?:request|payload|prompt) (?:size )?exceeds/i,
]
