import type { JsonObject } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import { z } from 'zod'
import { ContextError } from '../model/context-error.ts'
import type { Command } from '../model/conversation-input.ts'
import type { IntentCandidate, IntentInfo } from '../model/interpreter.ts'
import type { Route } from '../model/router.ts'
import { sayFallback } from './fallback-text.ts'
import { unknownContext } from './play-frame.ts'
import { activate, cancel, goBack, open } from './stack.ts'
import { activeFrame, type Turn } from './turn.ts'

/** The commands that an interpreter may name as intents, with the schema of their slots. */
const SPOKEN: Readonly<Record<string, z.ZodType>> = {
  cancel: z.object({}).describe('give up what is going on'),
  back: z.object({}).describe('go back to what was going on before'),
  switch: z.object({ context: z.string() }).describe('go on with something else that was named'),
  end: z.object({}).describe('end the conversation'),
}

/** The commands as intents. */
export const COMMAND_INTENTS: readonly IntentInfo[] = Object.entries(SPOKEN).map(([name, schema]) => ({
  name,
  description: schema.description ?? name,
  slots: z.toJSONSchema(schema, { io: 'input' }) as JsonObject,
  contexts: [],
}))

/** The command that a candidate names; `null` where it names none. Throws `slots-invalid` for one without what it needs. */
export function readCommand({ intent, slots }: IntentCandidate): Command | null {
  const schema = Object.hasOwn(SPOKEN, intent) ? SPOKEN[intent] : undefined
  if (!schema) return null
  const parsed = schema.safeParse(slots)
  if (!parsed.success)
    throw new ContextError('slots-invalid', `The slots of ${intent} are wrong: ${formatZodError(parsed.error)}.`)
  return { ...(parsed.data as object), name: intent } as Command
}

/** The route of a candidate that names a command which can be followed now. It counts as the active context's own. */
export function commandRoute(turn: Turn, candidate: IntentCandidate): Route | null {
  const { intent, slots } = candidate
  const possible = {
    cancel: turn.stack.length > 0,
    back: turn.stack.length > 1,
    switch: turn.rules.contexts.has(String(slots.context)),
    end: true,
  }
  if (!Object.hasOwn(possible, intent) || !possible[intent as keyof typeof possible]) return null
  return { ...candidate, context: null, frame: null, active: true }
}

/** The route of a candidate that wants something open to be given up or gone back to, where nothing is. */
export function vainCommand(candidate: IntentCandidate): (Route & { readonly intent: 'cancel' | 'back' }) | null {
  const { intent } = candidate
  if (intent !== 'cancel' && intent !== 'back') return null
  return { ...candidate, intent, context: null, frame: null, active: true }
}

/** Does what a user wants of the conversation itself. Throws `unknown-context`, `too-deep` and `nothing-open`. */
export function runCommand(turn: Turn, command: Command): void {
  switch (command.name) {
    case 'cancel':
      giveUp(turn)
      break
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

/** Gives the active frame up. Where nothing is below that would say how it goes on, the conversation does. */
function giveUp(turn: Turn): void {
  const given = activeFrame(turn)
  cancel(turn)
  if (given && turn.stack.length === 0 && turn.replies.length === 0)
    sayFallback(turn, { kind: 'cancelled', context: given.context.name })
}

/** Brings the frame of a context that is nearest to the top forward, or opens one. */
function switchTo(turn: Turn, name: string): void {
  if (!turn.rules.contexts.has(name)) throw unknownContext(turn, name)
  const frame = turn.stack.findLast(({ context }) => context.name === name)
  if (frame) activate(turn, frame, 'switch')
  else open(turn, name, 'switch')
}
