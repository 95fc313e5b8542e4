import type { JsonObject } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/extend'
import type { IntentInfo } from '../model/interpreter.ts'

/** The slots of an intent: the JSON Schema of each, by name. */
export function slotsOf({ slots }: Pick<IntentInfo, 'slots'>): { readonly [slot: string]: JsonObject } {
  return (slots.properties ?? {}) as { readonly [slot: string]: JsonObject }
}

/** The names of the slots of an intent, as a caller reads them. */
export function describeSlots(intent: Pick<IntentInfo, 'slots'>): string {
  return Object.keys(slotsOf(intent)).join(', ') || 'no slots'
}

/** The names among some slots that an intent does not have; none where its schema takes any name. */
export function unknownSlots(intent: Pick<IntentInfo, 'slots'>, slots: JsonObject): string[] {
  const { additionalProperties } = intent.slots
  if (additionalProperties !== undefined && additionalProperties !== false) return []
  const known = slotsOf(intent)
  return Object.keys(slots).filter((slot) => !Object.hasOwn(known, slot))
}

/** Says that an intent does not have some slots, of which it names the first four, and which slots it has. Without a full stop. */
export function describeUnknownSlots(intent: Pick<IntentInfo, 'name' | 'slots'>, unknown: readonly string[]): string {
  const named = unknown.slice(0, 4).map((slot) => `"${shorten(slot)}"`)
  return `${intent.name} has no slot ${named.join(', ')}. What it takes: ${describeSlots(intent)}`
}
