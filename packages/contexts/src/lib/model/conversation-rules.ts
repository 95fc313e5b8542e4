import type { z } from 'zod'
import type { Context, SharedSchemas } from './context.ts'
import type { ConversationBounds, ConversationDefinition } from './conversation.ts'
import type { IntentInfo } from './interpreter.ts'
import type { Router } from './router.ts'

/** What a conversation goes by, its types erased and its names looked up once. */
export interface ConversationRules {
  readonly name: string
  readonly contexts: ReadonlyMap<string, Context>
  readonly initial: string | null
  readonly router: Router
  readonly shared: SharedSchemas | null
  readonly bounds: ConversationBounds
  /** The schema of each event that a context hears of. */
  readonly events: ReadonlyMap<string, z.ZodType>
  /** Every intent by its name, the commands among them. */
  readonly intents: ReadonlyMap<string, IntentInfo>
  readonly fallback: NonNullable<ConversationDefinition<readonly Context[]>['fallback']>
  readonly summarise: NonNullable<ConversationDefinition<readonly Context[]>['summarise']>
}
