import type { Json, JsonObject } from '@episodic/protocol'
import type { EventAddress } from './conversation-input.ts'
import type { ClosedFrame, Unrecognised } from './conversation-record.ts'

/** The code of a context with its types erased: its schemas have been checked, and JSON goes in and out. */
export interface Machine {
  readonly initial: string
  readonly states: { readonly [state: string]: MachineState }
  readonly opens: { readonly [intent: string]: readonly MachineHandler[] }
  readonly on: { readonly [input: string]: readonly MachineHandler[] }
  topics(data: JsonObject): readonly string[]
  onTransition?(context: Hook & { readonly from: string; readonly to: string; readonly on: string | null }): void
  unrecognised?(context: Omit<Hook, 'unrecognised'> & Unrecognised & { readonly intent: string }): void
  resume(context: Hook & { readonly closed: ClosedFrame | null }): void
  result?(view: View): JsonObject | undefined
}

export interface MachineState {
  readonly on: { readonly [input: string]: readonly MachineHandler[] }
  readonly always: readonly MachineHandler[]
  readonly final: boolean
  entry?(context: Hook): void
  exit?(context: Hook): void
  prompt?(view: View): string
}

export interface MachineHandler {
  readonly target?: string
  guard?(view: View): boolean
  effect?(context: Effect): void
}

export interface InputData {
  readonly slots?: JsonObject
  readonly event?: JsonObject
  readonly unrecognised?: readonly Unrecognised[]
}

export interface View extends InputData {
  readonly data: JsonObject
  readonly hidden: JsonObject
  readonly shared: Shared | undefined
  readonly now: number
}

export interface Hook extends View {
  readonly state: string
  say(text: string): void
  reveal<T extends Json>(value: T): T
  publish(type: string, data: JsonObject, to?: EventAddress): void
}

export interface Effect extends Hook {
  readonly previous: JsonObject | null
  open(context: string): void
  activate(): void
  endConversation(reason: string): void
}

export interface Shared {
  readonly public: JsonObject
  readonly private: JsonObject
}
