import type { Attachment, JsonObject, PublishedEvent, Refusal, Truncation } from '@episodic/protocol'
import type { ResourceInText } from '@episodic/protocol/internal'
import type { Played, SessionState } from '@episodic/state'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import type { PlayEffects } from './play-context.ts'
import type { PlayChecks, RulesTurn } from './rules-turn.ts'

/** What the rules decided about one action, before rewards. */
export interface Decided {
  readonly refusal: Refusal | null
  /** What the rules say, as the history keeps it. */
  readonly text: string
  /** What the player reads of it, with data that the text does not say. Default: the text. */
  readonly shown?: string
  /** The data of the answer. Default: the view of the seat. */
  readonly structured?: JsonObject
  readonly attachments?: readonly Attachment[]
  readonly resources?: readonly ResourceInText[]
  readonly change: Played['change']
  /** `null` if the action was refused, or is sealed until others have moved. */
  readonly effects: Pick<PlayEffects, 'ended' | 'left' | 'messages'> | null
  readonly moved: readonly string[]
  /** Whether the seat called a played tool: not if it was absent, nor with the last move of a sealed round. */
  readonly called: boolean
  /** The state that rewards compare with. Default: that before the step. */
  readonly before?: SessionState
  readonly published?: readonly PublishedEvent[] | undefined
  readonly undeclared?: string | undefined
  /** The seats that a round of sealed moves still waits for. Default: as the rules say. */
  readonly waiting?: readonly string[]
  /** The limit by which the step ends the episode for all. Default: that of the turn. */
  readonly truncation?: Truncation
}

export interface ToolCall {
  readonly environment: EnvironmentDefinition
  readonly turn: RulesTurn
  readonly name: string
  readonly input: unknown
  readonly checks: PlayChecks | undefined
}
