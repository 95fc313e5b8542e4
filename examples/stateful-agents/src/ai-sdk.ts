/** `node ai-sdk.ts`: the four ways to give an agent of the AI SDK an MCP session that stays. */
import { openAgentSession, type ToolAnswer } from '@episodic/agent'
import { createStatefulAgent, StatefulAgentExecutor, ToolLoopAgent, withAgentSession } from '@episodic/agent/ai-sdk'
import type { StepResult, ToolSet } from 'ai'
import { createScriptedLanguageModel } from './agents/scripted-language-model.ts'
import { thinkingPrompt as prompt, think, thinkingServer } from './scenes/thinking-scene.ts'

const servers = { mcpServers: { thinking: thinkingServer } }
// Any language model of the AI SDK. This one needs no key.
const model = createScriptedLanguageModel(think)

// 1. An executor holds the session for its whole life: the second invocation goes on where the first one ended.
{
  await using executor = new StatefulAgentExecutor({ ...servers, model, keepMessages: false })
  const first = await executor.invoke({ prompt })
  const second = await executor.invoke({ prompt })
  console.log(`executor: ${historyOf(first.steps)}, then ${historyOf(second.steps)}`)
}

// 2. A function has the session for as long as it runs, and it is closed however the function ends.
const history = await withAgentSession({ ...servers, model }, async ({ agent }) => {
  const { steps } = await agent.generate({ prompt })
  return historyOf(steps)
})
console.log(`function: ${history}`)

// 3. The agent and its session: the caller closes the session.
{
  const { agent, session } = await createStatefulAgent({ ...servers, model })
  await using _ = session
  const { steps } = await agent.generate({ prompt })
  console.log(`agent and session: ${historyOf(steps)}`)
}

// 4. The AI SDK's own ToolLoopAgent with one option more, for a session that is opened elsewhere.
{
  await using mcpSession = await openAgentSession(servers)
  const { steps } = await new ToolLoopAgent({ model, mcpSession }).generate({ prompt })
  console.log(`option: ${historyOf(steps)}`)
}

/** How many thoughts the server knew of after each call. */
function historyOf(steps: readonly StepResult<ToolSet, Record<string, unknown>>[]): string {
  const answers = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output as ToolAnswer))
  return answers
    .map(({ structured }) => (structured as { thoughtHistoryLength: number }).thoughtHistoryLength)
    .join(', ')
}
