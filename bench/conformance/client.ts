import { openChannel } from '@episodic/env'

// The suite's client: it lists the tools of the server that it is told of, and makes the calls that it is told, or else calls
// each tool with what its schema asks for.

interface Tool {
  readonly name: string
  readonly inputSchema: { readonly properties?: Record<string, { readonly type?: string }> }
}

const SAMPLES: Readonly<Record<string, unknown>> = { number: 5, integer: 5, string: 'text', boolean: true }

interface Call {
  readonly name: string
  readonly arguments: Record<string, never>
}

const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as { toolCalls?: Call[] }
const channel = await openChannel(process.argv.at(-1) as string)
try {
  const { tools } = (await channel.request('tools/list', {})) as { tools: Tool[] }
  for (const call of toolCalls ?? tools.map(sampleCall)) await channel.request('tools/call', { ...call })
} finally {
  await channel.close()
}

function sampleCall({ name, inputSchema }: Tool): Call {
  const properties = Object.entries(inputSchema.properties ?? {})
  const args = properties.map(([key, { type = '' }]) => [key, SAMPLES[type] ?? null])
  return { name, arguments: Object.fromEntries(args) }
}
