import { fileURLToPath } from 'node:url'
import type { ServerConfig, ToolAnswer } from '@episodic/agent'
import { call, type Script } from '../agents/script.ts'
import { bothWays } from './both-ways.ts'

const THOUGHTS = 3

export const thinkingServer: ServerConfig = {
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-sequential-thinking/dist/index.js'))],
  env: { DISABLE_THOUGHT_LOGGING: 'true' },
}

export const thinkingPrompt = `Think about why the sky is blue in exactly ${THOUGHTS} thoughts. Record each with the tool, one call after the other, then answer in a sentence.`

export const think: Script = function* () {
  for (let number = 1; number <= THOUGHTS; number += 1) {
    const about = { thought: `Thought ${number}.`, thoughtNumber: number, totalThoughts: THOUGHTS }
    yield* call('sequentialthinking', { ...about, nextThoughtNeeded: number < THOUGHTS })
  }
  return 'Short waves scatter more.'
}

/** Returns the number of thoughts on the server after each call. */
export function historyOf(answers: readonly ToolAnswer[]): string {
  return answers
    .map(({ structured }) => (structured as { thoughtHistoryLength?: number } | null)?.thoughtHistoryLength ?? '?')
    .join(', ')
}

/** A server that numbers thoughts: the smallest possible state. */
export const thinkingScene = bothWays({
  name: 'thinking',
  title: 'three thoughts of server-sequential-thinking',
  expected: { call: /^history 1, 1, 1$/, agent: /^history 1, 2, 3$/ },
  open: async () => ({
    server: thinkingServer,
    prompt: thinkingPrompt,
    script: think,
    outcome: (answers) => `history ${historyOf(answers)}`,
    async [Symbol.asyncDispose]() {},
  }),
})
