import type { Json, JsonObject } from '@episodic/protocol'
import type { EventAddress } from './conversation-input.ts'
import type { ClosedFrame } from './conversation-record.ts'
import type { Unrecognised } from './unrecognised.ts'

/** The code of a context, its types erased: its schemas have been checked, and JSON goes in and out. */
export interface Machine {
  readonly initial: string
  readonly states: { readonly [state: string]: MachineState }
  readonly opens: { readonly [intent: string]: readonly MachineHandler[] }
  readonly on: { readonly [input: string]: readonly MachineHandler[] }
  topics(data: JsonObject): readonly string[]
  onTransition?(moment: Hook & { readonly from: string; readonly to: string; readonly on: string | null }): void
  unrecognised?(moment: Omit<Hook, 'unrecognised'> & Unrecognised & { readonly intent: string }): void
  resume(moment: Hook & { readonly closed: ClosedFrame | null }): void
  result?(view: View): JsonObject | undefined
}

export interface MachineState {
  readonly on: { readonly [input: string]: readonly MachineHandler[] }
  readonly always: readonly MachineHandler[]
  readonly final: boolean
  entry?(moment: Hook): void
  exit?(moment: Hook): void
  prompt?(view: View): string
}

export interface MachineHandler {
  readonly target?: string
  guard?(view: View): boolean
  effect?(moment: Effect): void
}

/** What came with an input. */
export interface InputData {
  readonly slots?: JsonObject
  readonly event?: JsonObject
  /** What was said for slots of the intent and is no value of them. */
  readonly unrecognised?: readonly Unrecognised[]
}

export interface View extends InputData {
  readonly data: JsonObject
  readonly hidden: JsonObject
  readonly shared: Shared | undefined
  readonly now: number
}

export interface Moment extends View {
  readonly state: string
  say(text: string): void
  reveal<T extends Json>(value: T): T
}

export interface Hook extends Moment {
  publish(type: string, data: JsonObject, to?: EventAddress): void
}

export interface Effect extends Hook {
  readonly previous: JsonObject | null
  open(context: string): void
  activate(): void
  endConversation(reason: string): void
}

/** What all contexts share. */
export interface Shared {
  readonly public: JsonObject
  readonly private: JsonObject
}
