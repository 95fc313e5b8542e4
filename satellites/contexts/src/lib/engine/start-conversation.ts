import { findNonJson, type JsonObject } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { ContextError } from '../model/context-error.ts'
import type { ConversationRecord } from '../model/conversation-record.ts'
import type { Shared } from '../model/machine.ts'
import type { TurnResult } from '../model/turn-result.ts'
import { finishInput } from './finish-input.ts'
import { unchanged } from './handle-input.ts'
import { open } from './stack.ts'
import { type ConversationRules, startTurn } from './turn.ts'

export function startConversation(
  rules: ConversationRules,
  given: Partial<Shared> | undefined,
  now: number,
): TurnResult {
  const empty: ConversationRecord = {
    public: {
      turn: 0,
      stack: [],
      closed: [],
      question: null,
      history: [],
      summary: '',
      path: [],
      shared: sharedPart(rules, 'public', given),
      ended: null,
      nextFrame: 1,
    },
    private: { hidden: {}, shared: sharedPart(rules, 'private', given), events: [] },
  }
  if (rules.initial === null) return unchanged(empty)
  const turn = startTurn(rules, empty, now)
  open(turn, rules.initial, null)
  return finishInput(turn, { kind: 'command', text: 'open', intent: null, slots: {}, context: rules.initial })
}

function sharedPart(
  { name, shared }: ConversationRules,
  part: keyof Shared,
  given: Partial<Shared> | undefined,
): JsonObject {
  if (!shared) return {}
  const parsed = shared[part].safeParse(given?.[part] ?? {})
  const problem = parsed.success ? findNonJson(parsed.data) : formatZodError(parsed.error)
  if (problem) throw new ContextError('record-invalid', `The ${part} shared data of ${name} are wrong: ${problem}.`)
  return structuredClone(parsed.data) as JsonObject
}
