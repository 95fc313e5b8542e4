import { definePolicy, type EarlierStep, type Player, type Policy, type PolicyContext } from '@episodic/env'
import { type Action, contentId, type JsonObject, type Observation } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import type { Answer } from './answer-of.ts'
import { type ChatModel, createChatModel } from './chat-model.ts'
import type { ModelSettings } from './model-settings.ts'
import { assistant, callOf, createTranscript, type ToolCall, type Transcript } from './transcript.ts'

/** How many answers in a row may be no action, before the episode fails. */
const MISTAKES = 3

/**
 * A policy that asks a language model: it is told the task and what came of each of its calls, and calls one of the
 * world's tools in each answer. Of several calls in one answer the first is played, and the others are forgotten.
 *
 * An answer that calls no tool, or whose arguments are no JSON object, is said so to the model; after three in a row the
 * player throws `policy-failed`, so that the episode fails and is no zero. A tool that does not exist and arguments
 * that are wrong are for the world to refuse. It throws `budget-spent` for an episode that takes more tokens than it may.
 *
 * @param name - what it is called in records.
 */
export function createLlmPolicy(name: string, model: string, settings: ModelSettings): Policy {
  const chat = createChatModel(model, settings)
  return definePolicy({
    name,
    start: (context) => createPlayer(chat, context, settings, []),
    resume: (context, earlier) => createPlayer(chat, context, settings, earlier),
  })
}

/** What was called last, to be told what came of it. */
interface Pending {
  readonly call: ToolCall
  readonly text: string | null
}

function createPlayer(
  chat: ChatModel,
  { task, tools, seed }: PolicyContext,
  { tokenBudget }: ModelSettings,
  earlier: readonly EarlierStep[],
): Player {
  let transcript: Transcript | null = null
  let pending: Pending | null = null
  let spent = 0
  let asked = 0

  return async (observation, { signal, onCompletion }) => {
    transcript ??= begin(observation)
    if (pending) transcript.addStep(pending.call, pending.text, observation)
    const mistaken: string[] = []
    for (;;) {
      if (tokenBudget !== null && spent >= tokenBudget)
        throw new HarnessError(
          'budget-spent',
          `The episode took ${spent} tokens, and may take ${tokenBudget}: --token-budget.`,
        )
      const answer = await chat.ask({ messages: transcript.messages, tools, seed: seedOf(seed, asked++), signal })
      spent += answer.completion.promptTokens + answer.completion.completionTokens
      onCompletion?.(answer.completion)
      const action = actionOf(answer.call)
      if (answer.call && action) {
        pending = { call: answer.call, text: answer.completion.text }
        return action
      }
      mistaken.push(mistakeOf(answer))
      if (mistaken.length === MISTAKES)
        throw new HarnessError(
          'policy-failed',
          `The model gave ${MISTAKES} answers in a row that are no action: ${mistaken.join(', then ')}. The last one stopped by "${answer.finish}": ${quote(answer)}.`,
        )
      transcript.addMistake([assistant(answer.completion.text ?? ''), { role: 'user', content: correct(answer) }])
    }
  }

  function begin(observation: Observation): Transcript {
    const [first] = earlier
    const begun = createTranscript(task, first?.observation ?? observation)
    // What came of the last one is what the player is about to be told.
    for (const [i, { action }] of earlier.entries()) {
      const next = earlier[i + 1]
      const call = callOf(action, i)
      if (next) begun.addStep(call, null, next.observation)
      else pending = { call, text: null }
    }
    return begun
  }
}

function actionOf(call: ToolCall | null): Action | null {
  if (!call) return null
  try {
    // A tool without parameters is called with nothing by some.
    const args: unknown = JSON.parse(call.arguments === '' ? '{}' : call.arguments)
    const isObject = typeof args === 'object' && args !== null && !Array.isArray(args)
    return isObject ? { tool: call.name, arguments: args as JsonObject } : null
  } catch {
    return null
  }
}

/** What is wrong with an answer that is no action. */
function mistakeOf({ call }: Answer): string {
  return call ? `arguments for ${call.name.slice(0, 64)} that are no JSON object` : 'no call of a tool'
}

function correct({ call, finish }: Answer): string {
  if (call) return `Your arguments for ${call.name.slice(0, 64)} are no JSON object. Call the tool again.`
  if (finish === 'length')
    return 'Your answer was cut off before it called a tool. Call one of the tools, and say less.'
  return 'You called no tool. Call one of the tools.'
}

function quote({ call, completion }: Answer): string {
  return JSON.stringify((call ? `${call.name} ${call.arguments}` : (completion.text ?? '')).slice(0, 200))
}

/** A seed of 31 bits for each request of an episode: a server that takes seeds answers otherwise each time, and the same again. */
function seedOf(seed: string, number: number): number {
  return Number.parseInt(contentId(`${seed}/${number}`).slice(0, 8), 16) >>> 1
}
