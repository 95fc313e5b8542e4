import type { JsonObject } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import type { IntentInfo } from './interpreter.ts'

export function slotsOf({ slots }: Pick<IntentInfo, 'slots'>): { readonly [slot: string]: JsonObject } {
  return (slots.properties ?? {}) as { readonly [slot: string]: JsonObject }
}

export function formatSlots(intent: Pick<IntentInfo, 'slots'>): string {
  return Object.keys(slotsOf(intent)).join(', ') || 'no slots'
}

/** Returns the names of slots that an intent does not have; none if its schema accepts any name. */
export function unknownSlots(intent: Pick<IntentInfo, 'slots'>, slots: JsonObject): string[] {
  const { additionalProperties } = intent.slots
  if (additionalProperties !== undefined && additionalProperties !== false) return []
  const known = slotsOf(intent)
  return Object.keys(slots).filter((slot) => !Object.hasOwn(known, slot))
}

export function formatUnknownSlots(intent: Pick<IntentInfo, 'name' | 'slots'>, unknown: readonly string[]): string {
  const named = unknown.slice(0, 4).map((slot) => `"${shorten(slot)}"`)
  return `${intent.name} has no slot ${named.join(', ')}. What it takes: ${formatSlots(intent)}`
}
