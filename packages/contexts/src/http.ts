export {
  type ConversationDoorOptions,
  createConversationDoor,
  isConversation,
} from './lib/http-conversation-door.ts'
export type { ClientFrame, News, ServerFrame, Turn } from './lib/http-conversation-frames.ts'
