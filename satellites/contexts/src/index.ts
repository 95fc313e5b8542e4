export { defineContext } from './lib/define/define-context.ts'
export { defineConversation } from './lib/define/define-conversation.ts'
export { plainFallback } from './lib/define/plain-fallback.ts'
export {
  type ConversationEnvironment,
  type ConversationStep,
  conversationEnvironment,
} from './lib/environment/conversation-environment.ts'
export type { ConversationGoal, GoalView } from './lib/environment/conversation-goal.ts'
export type { UserSimulator, UserTurn } from './lib/environment/user-simulator.ts'
export type { Context, EffectContext, HandlerContext } from './lib/model/context.ts'
export { ContextError } from './lib/model/context-error.ts'
export type { Conversation } from './lib/model/conversation.ts'
export type { ConversationInput } from './lib/model/conversation-input.ts'
export type {
  ConversationRecord,
  Frame,
  HistoryEntry,
  Question,
} from './lib/model/conversation-record.ts'
export type { IntentCandidate, Interpretation, Interpreter, InterpretRequest } from './lib/model/interpreter.ts'
export { createRouter, type Route, type Router } from './lib/model/router.ts'
export type { Reply, TurnResult } from './lib/model/turn-result.ts'
