import type { Action, Observation } from '@episodic/protocol'
import type OpenAI from 'openai'

export type Message = OpenAI.ChatCompletionMessageParam
/** An answer of the model, and the reply to it. */
type Exchange = readonly Message[]

/** Maximum characters of earlier exchanges in a request. The oldest are dropped first. */
const MAX_CHARACTERS = 200_000

/** The messages to a model: the instructions, the task, and its calls with their results. */
export interface Transcript {
  readonly messages: readonly Message[]
  /** Adds a call of the model, and its result. */
  addStep(call: ToolCall, text: string | null, observation: Observation): void
  /** Adds an invalid answer of the model, and its correction. */
  addMistake(messages: Exchange): void
}

/** A tool call of a model. Its arguments are JSON text. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** Returns a transcript that starts with the task, its hints, and the observation. */
export function createTranscript(
  { prompt, hints }: { readonly prompt: string; readonly hints: readonly string[] },
  observation: Observation,
): Transcript {
  const opening: Message[] = [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content: [prompt, ...hints, observation.text].filter((text) => text !== '').join('\n\n') },
  ]
  const exchanges: Exchange[] = []
  let remembered = 0
  const add = (exchange: Exchange) => {
    exchanges.push(exchange)
    remembered += lengthOf(exchange)
    while (remembered > MAX_CHARACTERS && exchanges.length > 1) remembered -= lengthOf(exchanges.shift() as Exchange)
  }
  return {
    get messages() {
      return [...opening, ...exchanges.flat()]
    },
    addStep(call, text, observation) {
      add([assistant(text, call), { role: 'tool', tool_call_id: call.id, content: observation.text }])
    },
    addMistake: add,
  }
}

/** Returns the message of an answer of the model. */
export function assistant(text: string | null, call?: ToolCall): Message {
  const made = call && {
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: call.arguments },
  }
  return { role: 'assistant', content: text, ...(made && { tool_calls: [made] }) }
}

/** Returns an action as the tool call of a model, for steps that were played before the model took over. */
export function callOf({ tool, arguments: args }: Action, number: number): ToolCall {
  return { id: `call_${number}`, name: tool, arguments: JSON.stringify(args) }
}

const INSTRUCTIONS =
  'You act in a world by calling its tools. Call exactly one tool in each answer. After each call you see its result. Go on until you see that it is over.'

function lengthOf(exchange: Exchange): number {
  return exchange.reduce((sum, message) => sum + JSON.stringify(message).length, 0)
}
