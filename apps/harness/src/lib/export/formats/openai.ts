import { conversationOf } from '../episode/conversation.ts'
import { asText, chatMessage, toolsField } from '../episode/messages.ts'
import { linePerEpisode } from '../export-format.ts'

/**
 * OpenAI's fine-tuning format, which accepts no columns of one's own: the ids of the calls name the episode.
 * https://platform.openai.com/docs/guides/supervised-fine-tuning
 */
export const openai = linePerEpisode('OpenAI fine-tuning: messages and tools', (record, source) => {
  const { prompt, completion } = conversationOf(record)
  return {
    messages: [...prompt, ...completion].map((message) => chatMessage(message, asText)),
    ...toolsField(record, source),
    parallel_tool_calls: false,
  }
})
