export { defineContext } from './lib/define/define-context.ts'
export { defineConversation } from './lib/define/define-conversation.ts'
export { plainFallback } from './lib/define/plain-fallback.ts'
export { conversationInputSchema } from './lib/engine/input-problem.ts'
export {
  type ConversationEnvironment,
  type ConversationEnvironmentDefinition,
  type ConversationStep,
  conversationEnvironment,
} from './lib/environment/conversation-environment.ts'
export type { ConversationGoal, GoalView } from './lib/environment/conversation-goal.ts'
export type { UserSimulator, UserTurn } from './lib/environment/user-simulator.ts'
export type { SpeakRequest, UserSpeaker } from './lib/environment/user-speaker.ts'
export type { AskOptions } from './lib/model/ask-text.ts'
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
} from './lib/model/context.ts'
export { ContextError, type ContextErrorCode } from './lib/model/context-error.ts'
export type {
  Conversation,
  ConversationBounds,
  ConversationDefinition,
  EventData,
  EventName,
  FallbackReason,
  IntentName,
  SlotsOf,
} from './lib/model/conversation.ts'
export type { Command, ConversationInput, EventAddress } from './lib/model/conversation-input.ts'
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
} from './lib/model/conversation-record.ts'
export type { Interpreted, InterpretOptions } from './lib/model/interpret-utterance.ts'
export type {
  IntentCandidate,
  IntentInfo,
  Interpretation,
  Interpreter,
  InterpretRequest,
} from './lib/model/interpreter.ts'
export type { ReplyWriter, WriteRequest } from './lib/model/reply-writer.ts'
export { createRouter, type Route, type RouteDecision, type Router, type RouterOptions } from './lib/model/router.ts'
export type { Advanced, InputRefusal, RefusalCode, Reply } from './lib/model/turn-result.ts'
export type { Unrecognised } from './lib/model/unrecognised.ts'
export type { Written } from './lib/model/write-reply.ts'
