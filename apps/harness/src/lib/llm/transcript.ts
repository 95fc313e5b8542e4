import type { Action, Observation } from '@episodic/protocol'
import type OpenAI from 'openai'

export type Message = OpenAI.ChatCompletionMessageParam
/** An answer of the model, and what it was told of it. */
type Exchange = readonly Message[]

/** Characters of earlier exchanges that a model is reminded of. The oldest are left out first. */
const REMEMBERED = 200_000

/** What a model is told: who it is, what it is asked, and what came of what it did. */
export interface Transcript {
  readonly messages: readonly Message[]
  /** The model acted, and this came of it. */
  addStep(call: ToolCall, text: string | null, observation: Observation): void
  /** The model said what is no action, and has to be told so. */
  addMistake(messages: Exchange): void
}

/** A call of a tool as a model makes it: its arguments are a text. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** Begins a transcript: with the task, its hints, and how the world stands. */
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
    while (remembered > REMEMBERED && exchanges.length > 1) remembered -= lengthOf(exchanges.shift() as Exchange)
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

/** What the model said, as it is reminded of it. */
export function assistant(text: string | null, call?: ToolCall): Message {
  const made = call && {
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: call.arguments },
  }
  return { role: 'assistant', content: text, ...(made && { tool_calls: [made] }) }
}

/** An action as a model would have called it, for one that was played before it took over. */
export function callOf({ tool, arguments: args }: Action, number: number): ToolCall {
  return { id: `call_${number}`, name: tool, arguments: JSON.stringify(args) }
}

const INSTRUCTIONS =
  'You act in a world by calling its tools. Call exactly one tool in each answer. After each call you are told what came of it. Go on until you are told that it is over.'

function lengthOf(exchange: Exchange): number {
  return exchange.reduce((sum, message) => sum + JSON.stringify(message).length, 0)
}
