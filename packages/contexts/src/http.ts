export type { ClientFrame, News, ServerFrame, Turn } from './lib/http/frames.ts'
export {
  type ConversationDoorOptions,
  createConversationDoor,
  isConversation,
} from './lib/http/serve-conversations.ts'
