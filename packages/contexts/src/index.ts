export type { Advanced, InputRefusal, RefusalCode, Reply } from './lib/advanced.ts'
export type { AskOptions } from './lib/ask-text.ts'
export type {
  ClosedFrameOf,
  Context,
  ContextDefinition,
  ContextMoment,
  ContextView,
  Edge,
  EffectMoment,
  FrameOf,
  Handler,
  Schemas,
  SharedOf,
  SharedSchemas,
  StateDefinition,
} from './lib/context.ts'
export { ContextError, type ContextErrorCode } from './lib/context-error.ts'
export type {
  Conversation,
  ConversationBounds,
  ConversationDefinition,
  EventData,
  EventName,
  FallbackReason,
  IntentName,
  SlotsOf,
} from './lib/conversation.ts'
export {
  type ConversationEnvironment,
  type ConversationEnvironmentDefinition,
  type ConversationStep,
  conversationEnvironment,
} from './lib/conversation-environment.ts'
export type { ConversationGoal, GoalView } from './lib/conversation-goal.ts'
export type { Command, ConversationInput, EventAddress } from './lib/conversation-input.ts'
export type {
  ClosedFrame,
  ConversationRecord,
  ConversationTransition,
  Frame,
  HistoryEntry,
  PrivateConversation,
  PublicConversation,
  Question,
  QuestionOption,
} from './lib/conversation-record.ts'
export { defineContext } from './lib/define-context.ts'
export { defineConversation } from './lib/define-conversation.ts'
export { conversationInputSchema } from './lib/input-problem.ts'
export type { Interpreted, InterpretOptions } from './lib/interpret-utterance.ts'
export type {
  IntentCandidate,
  IntentInfo,
  Interpretation,
  Interpreter,
  InterpretRequest,
} from './lib/interpreter.ts'
export { plainFallback } from './lib/plain-fallback.ts'
export type { ReplyWriter, WriteRequest } from './lib/reply-writer.ts'
export { createRouter, type Route, type RouteDecision, type Router, type RouterOptions } from './lib/router.ts'
export type { Unrecognised } from './lib/unrecognised.ts'
export type { UserSimulator, UserTurn } from './lib/user-simulator.ts'
export type { SpeakRequest, UserSpeaker } from './lib/user-speaker.ts'
export type { Written } from './lib/write-reply.ts'
