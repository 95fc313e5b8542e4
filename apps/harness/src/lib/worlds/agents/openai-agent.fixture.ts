import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import OpenAI from 'openai'

// An agent in a process of its own, with the client of OpenAI as it is installed. It knows the address of an MCP
// server, and finds that of its model and the key as the client does, in OPENAI_BASE_URL and OPENAI_API_KEY. STREAM
// makes it read answers as streams.

const { EPISODIC_MCP_URL: url = '', EPISODIC_PROMPT = '', EPISODIC_OBSERVATION = '', STREAM } = process.env
const model = new OpenAI()
const world = new Client({ name: 'openai-agent', version: '1.0.0' })
await world.connect(new StreamableHTTPClientTransport(new URL(url)))
const { tools: listed } = await world.listTools()
const tools = listed.map(({ name, description = '', inputSchema }) => ({
  type: 'function' as const,
  function: { name, description, parameters: inputSchema },
}))
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: EPISODIC_PROMPT },
  { role: 'user', content: EPISODIC_OBSERVATION },
]
for (let isOver = false; !isOver; ) {
  const request = { model: 'small', messages, tools }
  const { choices } = await (STREAM
    ? model.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
    : model.chat.completions.create(request))
  const { content, tool_calls = [] } = (choices[0] as (typeof choices)[number]).message
  if (tool_calls.length === 0) break
  messages.push({ role: 'assistant', content, tool_calls })
  for (const call of tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[]) {
    const { name, arguments: args } = call.function
    const result = await world.callTool({ name, arguments: JSON.parse(args) })
    const [{ text }] = result.content as [{ text: string }]
    messages.push({ role: 'tool', tool_call_id: call.id, content: text })
    isOver ||= (result.structuredContent as { hint: string } | undefined)?.hint === 'correct'
  }
}
await world.close()
