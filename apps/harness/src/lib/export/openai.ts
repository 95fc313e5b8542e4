import { chatOf } from './chat.ts'
import { linePerEpisode } from './export-format.ts'
import { asText, messagesOf, toolsField } from './messages.ts'

/**
 * OpenAI's fine-tuning format, which accepts no columns of one's own: the ids of the calls name the episode.
 * https://platform.openai.com/docs/guides/supervised-fine-tuning
 */
export const openai = linePerEpisode('OpenAI fine-tuning: messages and tools', (record, source) => ({
  messages: messagesOf(chatOf(record), asText),
  ...toolsField(source),
  parallel_tool_calls: false,
}))
