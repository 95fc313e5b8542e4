export const MALFORMED_CALL = 'malformed_function_call'

/**
 * Returns an answer of chat completions for an error that says a mistake of the model: it wrote a call that its
 * server could not read. What it wrote is the text of the answer, if the server says it. `null` for any other error.
 *
 * Who caused an error decides, and not its status, which is 400, 424, 500, or 200 with an error in the body: a retry
 * would ask a model until it makes no mistake.
 */
export function answerOfMalformedCall(fields: Readonly<Record<string, unknown>>, words: string): object | null {
  const { failed_generation: failed, model, usage } = fields
  const codes = [fields.code, fields.type, fields.error_type, words].join(' ')
  if (typeof failed !== 'string' && !CODES.test(codes) && !WORDS.some((said) => said.test(words))) return null
  const content = typeof failed === 'string' ? failed : (QUOTED.exec(words)?.slice(1).find(Boolean) ?? null)
  const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: MALFORMED_CALL, malformed: words }
  return { model, usage, choices: [choice] }
}

/** Whether an answer ended because its server could not read the call in it, as Google and gateways name it. */
export function endsMalformed(choice: Readonly<Record<string, unknown>>): boolean {
  return [choice.finish_reason, choice.native_finish_reason].some((name) => typeof name === 'string' && ENDS.test(name))
}

const ENDS = /malformed_(?:function_call|tool_call|response)|unexpected_tool_call|too_many_tool_calls/i

/** Of Groq and TGI. */
const CODES = /\b(?:tool_use_failed|output_parse_failed|json_validate_failed|tool_error)\b/

/** As llama.cpp, Ollama, LM Studio, vLLM and SGLang with the parsers of gpt-oss, OpenAI and Bedrock say it. */
const WORDS = [
  /(?:(?:failed|failure) to parse|(?:error|failed) (?:while |when )?parsing) (?:the )?(?:tool|function)[ _-]?call/i,
  /failed to parse (?:the )?(?:input at pos|model'?s? (?:output|response)|generat)/i,
  /failed to call a function/i,
  /\b(?:model|output)\b.*\bdoes not match the expected\b.*\bformat/i,
  /model (?:has )?(?:produced|generated) (?:an )?invalid (?:content|output|sequence|tool call|function call)/i,
  /HarmonyError|unexpected token \d+ while expecting start token|tokens remaining in message header/i,
  /channel marker present but no channel value|^unknown role: /i,
  /validation errors? for list\[function-wrap/i,
]

/** Ollama and llama.cpp quote what the model wrote. */
const QUOTED = /\braw='(.*)', err=|failed to parse input at pos \d+: (.+)/is
