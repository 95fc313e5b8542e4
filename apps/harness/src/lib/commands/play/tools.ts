import { openChannel } from '@episodic/env'
import { disconnectPreservingSessions, listAll } from '@episodic/env/internal'
import { jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { colorsOf } from '../../base/console.ts'
import { flag } from '../../base/options.ts'
import { rawOutput, requireTarget } from '../../worlds/target.ts'
import { clientOptions } from '../../worlds/target-options.ts'
import { defineCommand } from '../define-command.ts'

const toolsSchema = z.array(
  z.object({ name: z.string(), description: z.string().optional(), inputSchema: jsonObjectSchema }),
)

const toolsOptions = z.object({ json: flag('print them as JSON'), ...clientOptions.shape })

export const command = defineCommand('tools', toolsOptions, {
  async run(_, { json, ...options }, console) {
    const target = requireTarget(options)
    // Connect as `call` does, so that both see the same tools.
    const channel = await openChannel(target, {
      ...rawOutput(options, console),
      ...disconnectPreservingSessions(target),
    })
    try {
      const tools = toolsSchema.parse(await listAll(channel, 'tools/list', 'tools'))
      if (tools.length === 0) {
        console.err.write(`There are no tools here. An Episodic server has them where its URL ends in /mcp.\n`)
        process.exitCode = 1
      }
      const { bold, dim } = colorsOf(console.out)
      if (json) console.out.write(`${JSON.stringify(tools)}\n`)
      else
        for (const { name, description = '', inputSchema } of tools)
          console.out.write(`${bold(name)}  ${description}\n  ${dim(formatInput(inputSchema))}\n`)
    } finally {
      await channel.close()
    }
  },
})

/** Describes the arguments of a tool on one line, with a question mark after each optional one. */
export function formatInput(schema: z.output<typeof jsonObjectSchema>): string {
  const required = new Set(schema.required as readonly string[] | undefined)
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>)
  if (properties.length === 0) return 'no arguments'
  return properties
    .map(([name, property]) => `${name}${required.has(name) ? '' : '?'}: ${formatType(property)}`)
    .join(', ')
}

function formatType(schema: Record<string, unknown>): string {
  const { enum: values, type, description, properties, items } = schema
  const what = Array.isArray(values)
    ? values.map((value) => JSON.stringify(value)).join(' | ')
    : properties
      ? `{ ${formatInput(schema as z.output<typeof jsonObjectSchema>)} }`
      : items
        ? `${formatType(items as Record<string, unknown>)}[]`
        : String(type ?? 'any')
  return typeof description === 'string' ? `${what} (${description})` : what
}
