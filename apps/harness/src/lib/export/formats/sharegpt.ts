import { chatOf, columnsOf } from '../episode/chat.ts'
import { linePerEpisode } from '../export-format.ts'

/**
 * ShareGPT with function calls, as LLaMA-Factory reads it: turns alternate between `human` or `observation` and
 * `function_call`, so the result of the last call, which no turn follows, is left out. Several calls of one turn are a
 * list.
 */
export const sharegpt = linePerEpisode('ShareGPT with function calls, as LLaMA-Factory reads it', (record, source) => {
  const { tools } = source
  const { opening, turns } = chatOf(record)
  const conversations = [{ from: 'human', value: opening }]
  for (const { calls } of turns) {
    const made = calls.map(({ tool, arguments: args }) => ({ name: tool, arguments: args }))
    conversations.push({ from: 'function_call', value: JSON.stringify(made.length === 1 ? made[0] : made) })
    conversations.push({ from: 'observation', value: calls.map(({ result }) => result).join('\n') })
  }
  return {
    conversations: conversations.slice(0, -1),
    ...(tools && {
      tools: JSON.stringify(
        tools.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
      ),
    }),
    ...columnsOf(record, source),
  }
})
