import { openAgentSession } from '@episodic/agent'
import { generateText } from '@episodic/agent/ai-sdk'
import { nextGuess } from '@episodic/models/bisect.fixture'
import { isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { defineAgent } from '../../../index.ts'

/** A model of the AI SDK's own interface that needs no server. */
function bisectingModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const value = nextGuess(JSON.stringify(prompt))
      return {
        content:
          value === null
            ? [{ type: 'text', text: 'Found.' }]
            : [
                {
                  type: 'tool-call',
                  toolCallId: `call-${prompt.length}`,
                  toolName: 'guess',
                  input: JSON.stringify({ value }),
                },
              ],
        finishReason: { unified: value === null ? 'stop' : 'tool-calls', raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      }
    },
  })
}

export const agent = defineAgent({
  name: 'ai-sdk',
  async play({ url, task, observation, record, signal }) {
    await using session = await openAgentSession({ mcpServers: { world: { url } } }, { signal })
    await generateText({
      mcpSession: session,
      model: bisectingModel(),
      system: task.prompt,
      prompt: observation.text,
      stopWhen: isStepCount(100),
      // It comes after the calls of its tools.
      onStepEnd: ({ text, toolCalls, usage, finishReason, response }) =>
        record({
          model: response.modelId,
          promptTokens: usage.inputTokens ?? 0,
          completionTokens: usage.outputTokens ?? 0,
          text: text || null,
          finish: finishReason,
          calls: toolCalls.map(({ toolCallId, toolName, input }) => ({
            id: toolCallId,
            name: toolName,
            arguments: JSON.stringify(input),
          })),
        }),
      abortSignal: signal,
    })
  },
})
