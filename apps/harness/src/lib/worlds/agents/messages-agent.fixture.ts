import { createAnthropic } from '@ai-sdk/anthropic'
import { openAgentSession } from '@episodic/agent'
import { generateText, streamText } from '@episodic/agent/ai-sdk'
import { isStepCount } from 'ai'

// An agent in a process of its own that speaks Anthropic's Messages, and finds the address of its model and the key as
// its client does, in ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY. STREAM makes it read answers as streams.

const { EPISODIC_MCP_URL: url = '', EPISODIC_PROMPT, EPISODIC_OBSERVATION = '', STREAM } = process.env
await using session = await openAgentSession({ mcpServers: { world: { url } } })
const asked = {
  mcpSession: session,
  model: createAnthropic()('claude'),
  maxOutputTokens: 1_000,
  system: EPISODIC_PROMPT,
  prompt: EPISODIC_OBSERVATION,
  stopWhen: isStepCount(20),
}
if (STREAM) await (await streamText(asked)).text
else await generateText(asked)
