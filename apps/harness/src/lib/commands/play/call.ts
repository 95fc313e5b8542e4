import { openChannel } from '@episodic/env'
import { disconnectPreservingSessions } from '@episodic/env/internal'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { type ContentPart, readContent, withAttachmentNotes } from '@episodic/protocol/internal'
import { Command } from 'commander'
import { z } from 'zod'
import type { Console } from '../../base/console.ts'
import { invalidOption } from '../../base/harness-error.ts'
import { jsonOrText } from '../../base/option-values.ts'
import { addOptions, flag, option } from '../../base/options.ts'
import { rawOutput, requireTarget } from '../../worlds/target.ts'
import { clientOptions } from '../../worlds/target-options.ts'

const resultSchema = z.looseObject({
  content: z.array(z.custom<ContentPart>((part) => jsonObjectSchema.safeParse(part).success)).default([]),
  isError: z.boolean().optional(),
})

const callOptions = z.object({
  args: option('<json>', 'all arguments at once, as a JSON object'),
  json: flag('print the whole result as JSON'),
  ...clientOptions.shape,
})

export function command(console: Console): Command {
  return addOptions(new Command('call'), callOptions)
    .argument('<tool>', 'name of the tool')
    .argument('[argument...]', 'arguments as name=value; a value that is not JSON is text')
    .addHelpText(
      'after',
      `\nExample, with the id that create_game prints:
  episodic call create_game --url http://127.0.0.1:7337/mcp
  episodic call guess game_id=mcp_… value=50 --url http://127.0.0.1:7337/mcp`,
    )
    .action(async (tool: string, words: string[], { args, json, ...options }: z.infer<typeof callOptions>) => {
      const target = requireTarget(options)
      const call = { name: tool, arguments: { ...(args === undefined ? {} : readArgs(args)), ...readArguments(words) } }
      const channel = await openChannel(target, {
        ...rawOutput(options, console),
        ...disconnectPreservingSessions(target),
      })
      try {
        const result = await channel.request('tools/call', call)
        const { content, isError } = resultSchema.parse(result)
        if (json) console.out.write(`${JSON.stringify(result)}\n`)
        else
          for (const part of content) {
            const { text, attachments } = readContent([part])
            console.out.write(`${withAttachmentNotes(text, attachments)}\n`)
          }
        if (isError) process.exitCode = 1
      } finally {
        await channel.close()
      }
    })
}

/** Reads `name=value` words. */
export function readArguments(words: readonly string[]): JsonObject {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      if (at < 1) throw invalidOption(`"${word}" is not an argument. Write name=value.`)
      return [word.slice(0, at), jsonOrText(word.slice(at + 1))]
    }),
  )
}

function readArgs(text: string): JsonObject {
  const parsed = jsonObjectSchema.safeParse(jsonOrText(text))
  if (!parsed.success) throw invalidOption(`--args ${text} is not a JSON object.`)
  return parsed.data
}
