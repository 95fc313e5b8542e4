import { createInterface } from 'node:readline'
import { endTrace, type GuardedLine, type Trace } from './lib/servers/traces.ts'

// A process that outlives the one which started it, however that dies, and then ends what it has left: the processes of
// its MCP servers, and their folders. It reads a line for each server that starts or ends.

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const left = new Map<string, Trace>()
for await (const line of createInterface({ input: process.stdin })) {
  const read = JSON.parse(line) as GuardedLine
  if ('folder' in read) left.set(read.mark, read)
  else left.delete(read.mark)
}
await Promise.all([...left.values()].map((trace) => endTrace(trace)))
