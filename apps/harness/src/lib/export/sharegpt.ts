import { chatOf, columnsOf } from './chat.ts'
import { linePerEpisode } from './export-format.ts'

/**
 * ShareGPT with function calls, as LLaMA-Factory reads it: turns alternate between `human` or `observation` and
 * `function_call`, so the result of the last call, which no turn follows, is left out.
 */
export const sharegpt = linePerEpisode('ShareGPT with function calls, as LLaMA-Factory reads it', (record, source) => {
  const { tools } = source
  const { opening, turns } = chatOf(record)
  const conversations = [{ from: 'human', value: opening }]
  for (const { tool, arguments: args, result } of turns) {
    conversations.push({ from: 'function_call', value: JSON.stringify({ name: tool, arguments: args }) })
    conversations.push({ from: 'observation', value: result })
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
