/** `node langchain.ts`: the four ways to give a LangChain agent an MCP session that stays. */
import { openAgentSession } from '@episodic/agent'
import { createAgent, createStatefulAgent, StatefulAgentExecutor, withAgentSession } from '@episodic/agent/langchain'
import { type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { ScriptedChatModel } from './agents/scripted-chat-model.ts'
import { think, thinkingPrompt, thinkingServer } from './scenes/thinking-scene.ts'

const servers = { mcpServers: { thinking: thinkingServer } }
// Any chat model of LangChain, or the name of one. This one needs no key.
const model = new ScriptedChatModel(think)
const question = { messages: [{ role: 'user', content: thinkingPrompt }] }

// 1. An executor holds the session for its whole life: the second invocation goes on where the first one ended.
{
  await using executor = new StatefulAgentExecutor({ ...servers, model, keepMessages: false })
  const first = await executor.invoke(question)
  const second = await executor.invoke(question)
  console.log(`executor: ${historyOf(first.messages)}, then ${historyOf(second.messages)}`)
}

// 2. A function has the session for as long as it runs, and it is closed however the function ends.
const history = await withAgentSession({ ...servers, model }, async ({ agent }) => {
  const { messages } = await agent.invoke(question)
  return historyOf(messages)
})
console.log(`function: ${history}`)

// 3. The agent and its session: the caller closes the session.
{
  const { agent, session } = await createStatefulAgent({ ...servers, model })
  await using _ = session
  const { messages } = await agent.invoke(question)
  console.log(`agent and session: ${historyOf(messages)}`)
}

// 4. LangChain's own createAgent with one option more, for a session that is opened elsewhere.
{
  await using mcpSession = await openAgentSession(servers)
  const agent = createAgent({ model, mcpSession })
  const { messages } = await agent.invoke(question)
  console.log(`option: ${historyOf(messages)}`)
}

/** How many thoughts the server knew of after each call. */
function historyOf(messages: readonly BaseMessage[]): string {
  const answers = messages.filter((message) => ToolMessage.isInstance(message))
  return answers.map(({ artifact }) => artifact.thoughtHistoryLength).join(', ')
}
