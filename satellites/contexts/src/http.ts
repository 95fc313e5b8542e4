export type { ClientFrame, ConversationTurn, ServerFrame } from './lib/http/frames.ts'
export { isConversation, serveConversations } from './lib/http/serve-conversations.ts'
