import type { JsonObject } from '@episodic/protocol'
import type { Task } from '../task-file.ts'

/** How a user's facts are written in what it knows of itself, and by which other words an agent asks for them. */
const FACTS: { readonly [name: string]: { readonly written: RegExp; readonly names: readonly string[] } } = {
  name: {
    written: /\b(?:[Yy]our? name is|[Yy]ou are|[Yy]ou're|called) ([A-Z][a-z]+ [A-Z][a-z]+)/g,
    names: ['full name'],
  },
  'user id': { written: /\b([a-z]+_[a-z]+_\d{4})\b/g, names: ['username'] },
  email: { written: /\b([\w.]+@[\w.]+\w)/g, names: ['e-mail'] },
  'zip code': { written: /\b(\d{5})\b/g, names: ['zip', 'zipcode', 'postal code'] },
  'phone number': { written: /\b(\d{3}-\d{3}-\d{4})\b/g, names: ['phone', 'number on file'] },
  'reservation id': {
    written: /\b((?=[A-Z\d]*\d)[A-Z\d]{6})\b/g,
    names: ['reservation number', 'reservation code', 'confirmation number', 'booking reference'],
  },
}

/**
 * Returns what the turns of the user of a task are checked against, as far as its data decides: its goal, the facts
 * that stand in what it knows of itself in one value, what it claims by a call, and the words that end a conversation.
 * What it may tell when, and what it wants on which condition, stands in sentences: no rule decides that.
 */
export function userSheetOf(user: Task['user'], claims: JsonObject): JsonObject {
  const facts = Object.entries(FACTS).flatMap(([name, { written, names }]) => {
    const values = new Set([...(user.known_info ?? '').matchAll(written)].map(([, value = '']) => value))
    return values.size === 1 ? [[name, { value: [...values][0] as string, names: [...names] }] as const] : []
  })
  // `Never mind` is how users of τ² change their minds, as their instructions ask for.
  const stop = { giveUp: ['###TRANSFER###', '###OUT-OF-SCOPE###'] }
  return { goal: user.reason_for_call, facts: Object.fromEntries(facts), claims, stop }
}
