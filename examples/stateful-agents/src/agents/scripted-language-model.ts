import type { LanguageModel } from 'ai'
import { nextTurn, type Script, type ToolResult } from './script.ts'

type LanguageModelV4 = Extract<LanguageModel, { specificationVersion: 'v4' }>
type CallOptions = Parameters<LanguageModelV4['doGenerate']>[0]
type GenerateResult = Awaited<ReturnType<LanguageModelV4['doGenerate']>>

/**
 * A language model of the AI SDK that follows a script. Stateless, like any model: it finds its position in the prompt.
 */
export function createScriptedLanguageModel(script: Script): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'example',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const results = resultsOf(prompt)
      const turn = nextTurn(script, results)
      if (typeof turn === 'string') return generated({ type: 'text', text: turn }, 'stop')
      const toolCallId = `call-${results.length + 1}`
      const input = JSON.stringify(turn.input)
      return generated({ type: 'tool-call', toolCallId, toolName: turn.tool, input }, 'tool-calls')
    },
    doStream() {
      throw new Error('The scripted model does not stream. Use generateText.')
    },
  }
}

function resultsOf(prompt: CallOptions['prompt']): ToolResult[] {
  return prompt
    .flatMap(({ role, content }) => (role === 'tool' ? content : []))
    .flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))
    .map((output) => ({
      text: 'value' in output && typeof output.value === 'string' ? output.value : JSON.stringify(output),
      isError: output.type.startsWith('error'),
    }))
}

function generated(
  part: GenerateResult['content'][number],
  reason: GenerateResult['finishReason']['unified'],
): GenerateResult {
  return {
    content: [part],
    finishReason: { unified: reason, raw: undefined },
    // It costs nothing.
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    },
    warnings: [],
  }
}
