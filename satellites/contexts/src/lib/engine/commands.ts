import type { JsonObject } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'
import { ContextError } from '../model/context-error.ts'
import type { Command } from '../model/conversation-input.ts'
import type { IntentCandidate, IntentInfo } from '../model/interpreter.ts'
import type { Route } from '../model/router.ts'
import { unknownContext } from './check-input.ts'
import { sayFallback } from './reply.ts'
import { activate, cancel, goBack, open } from './stack.ts'
import type { Turn } from './turn.ts'

/** The commands that an interpreter may name as intents, with the schema of their slots. */
const SPOKEN: Readonly<Record<string, z.ZodType>> = {
  cancel: z.object({}).describe('give up what is going on'),
  back: z.object({}).describe('go back to what was going on before'),
  switch: z.object({ context: z.string().max(128) }).describe('go on with something else that was named'),
  end: z.object({}).describe('end the conversation'),
}

export const COMMAND_INTENTS: readonly IntentInfo[] = Object.entries(SPOKEN).map(([name, schema]) => ({
  name,
  description: schema.description ?? name,
  slots: z.toJSONSchema(schema, { io: 'input' }) as JsonObject,
  contexts: [],
}))

export function readCommand({ intent, slots }: IntentCandidate): Command | null {
  const schema = Object.hasOwn(SPOKEN, intent) ? SPOKEN[intent] : undefined
  if (!schema) return null
  const parsed = schema.safeParse(slots)
  if (!parsed.success)
    throw new ContextError('slots-invalid', `The slots of ${intent} are wrong: ${formatZodError(parsed.error)}.`)
  return { ...(parsed.data as object), name: intent } as Command
}

export function commandRoute(turn: Turn, candidate: IntentCandidate): Route | null {
  const { intent, slots } = candidate
  const possible = {
    cancel: turn.stack.length > 0,
    back: turn.stack.length > 1,
    switch: turn.rules.contexts.has(String(slots.context)),
    end: true,
  }
  if (!Object.hasOwn(possible, intent) || !possible[intent as keyof typeof possible]) return null
  return routeOf(candidate)
}

export function impossibleCommand(candidate: IntentCandidate): (Route & { readonly intent: 'cancel' | 'back' }) | null {
  const { intent } = candidate
  return intent === 'cancel' || intent === 'back' ? { ...routeOf(candidate), intent } : null
}

function routeOf(candidate: IntentCandidate): Route {
  return { ...candidate, context: null, frame: null, active: true }
}

export function runCommand(turn: Turn, command: Command): void {
  switch (command.name) {
    case 'cancel': {
      const { context } = cancel(turn)
      // Nothing below has said how the conversation goes on.
      if (turn.stack.length === 0 && turn.replies.length === 0)
        sayFallback(turn, { kind: 'cancelled', context: context.name })
      break
    }
    case 'back':
      goBack(turn)
      break
    case 'end':
      turn.ended = 'ended-by-user'
      sayFallback(turn, { kind: 'ended' })
      break
    case 'open':
      open(turn, command.context, 'open')
      break
    case 'switch':
      switchTo(turn, command.context)
  }
}

function switchTo(turn: Turn, name: string): void {
  if (!turn.rules.contexts.has(name)) throw unknownContext(turn.rules, name)
  const frame = turn.stack.findLast(({ context }) => context.name === name)
  if (frame) activate(turn, frame, 'switch')
  else open(turn, name, 'switch')
}
