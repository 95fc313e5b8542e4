import { EnvError } from '@episodic/env'
import { listAll } from '@episodic/env/internal'
import {
  type Attachment,
  type Channel,
  type Json,
  type JsonObject,
  jsonObjectSchema,
  WireError,
} from '@episodic/protocol'
import {
  contentPartSchema,
  readContent,
  resourceInTextSchema,
  wellFormed,
  withDataLine,
} from '@episodic/protocol/internal'
import { z } from 'zod'
import { type AskOptions, ask, type ListedTool, read } from './other-methods.ts'

/** What is kept of the answer of a tool. */
export const toolAnswerShape = {
  /** Its texts, those of its resources, and a note of each part that is neither a text nor an attachment, in lines. */
  text: z.string(),
  /** Its structured content; `null` if it has none. */
  structured: jsonObjectSchema.nullable(),
  /** Its pictures, sounds and files, in base64. Left out if it has none. */
  attachments: z.array(z.object({ data: z.string(), mimeType: z.string(), uri: z.string().optional() })).optional(),
  /** The parts of the text that are resources, or stand for links to some. Left out if it has none. */
  resources: z.array(resourceInTextSchema).optional(),
  /** Whether the tool reported an error, or the server refused the call. It may have changed something all the same. */
  isError: z.boolean(),
  /** What the server asked meanwhile, and what the world answered; `null` where it declined. Left out if nothing. */
  asked: z.array(z.object({ message: z.string(), answer: jsonObjectSchema.nullable() })).optional(),
} as const
export type ToolAnswer = z.infer<z.ZodObject<typeof toolAnswerShape>>

const answerSchema = z.looseObject({
  content: z.array(contentPartSchema),
  structuredContent: jsonObjectSchema.optional(),
  isError: z.boolean().optional(),
})

const LONGEST = 200_000
/** Characters of base64 of an answer that are kept, and how many pictures, sounds and files. */
const BOUNDS = { base64: 600_000, attachments: 16 }

interface CallToolOptions extends AskOptions {
  /** Replaces in the answer what only this episode has. Default: nothing. */
  readonly rename?: <T extends Json>(value: T) => T
}

/** Calls a tool, or another method, and never retries. Rejects if the answer is lost or is none. */
export async function callTool(
  channel: Channel,
  tool: string,
  args: JsonObject,
  options: CallToolOptions,
): Promise<ToolAnswer> {
  const { signal, rename = (value) => value } = options
  let reply: unknown
  try {
    reply = await ask(channel, tool, args, options)
  } catch (cause) {
    signal.throwIfAborted()
    // Some servers reject invalid arguments, and whatever else goes wrong, with an error instead of a tool's answer.
    if (WireError.is(cause) || (EnvError.is(cause) && cause.details.refused === true))
      return { text: wellFormed(rename(cause.message)), structured: null, isError: true }
    throw cause
  }
  // Servers cut texts within a character.
  const { content, structuredContent, isError } = read(
    answerSchema,
    wellFormed(rename(reply as Json)),
    `the call of ${tool}`,
  )
  const { text, attachments = [], resources = [] } = readContent(content, BOUNDS)
  const structured = structuredContent ? plainData(structuredContent, tool) : null
  // The text stays as the server sent it. A model would read nothing of an answer that has data alone.
  const said = text === '' && structured ? withDataLine(text, structured) : text
  const named = resources.filter(({ to }) => to > 0 && to <= LONGEST)
  return {
    text: shortened(said),
    ...(attachments.length > 0 && { attachments: attachments.map(keptOf) }),
    ...(named.length > 0 && { resources: named }),
    structured,
    isError: isError === true,
  }
}

/** Tools with a number that was warned of. */
const warned = new Set<string>()

/** Returns data in which -0, which Python writes, is 0. Warns once of a tool with a number that has lost digits. */
function plainData(data: JsonObject, tool: string): JsonObject {
  const text = JSON.stringify(data, (_, value: unknown) => {
    if (Number.isInteger(value) && !Number.isSafeInteger(value) && !warned.has(tool)) {
      warned.add(tool)
      process.emitWarning(
        `The tool ${tool} answers with a number of more than 53 bits, which is read as ${value}: its last digits may be others. Have the server write it as a text.`,
      )
    }
    return value
  })
  return JSON.parse(text)
}

function keptOf({ data = '', mimeType, uri }: Attachment) {
  return { data, mimeType, ...(uri !== undefined && { uri }) }
}

function shortened(text: string): string {
  if (text.length <= LONGEST) return text
  const cut = text.slice(0, LONGEST).toWellFormed()
  return `${cut}\n[${text.length - LONGEST} more characters were left out.]`
}

export const listedToolSchema = z.object({
  name: z.string().min(1),
  description: z.string().default(''),
  inputSchema: jsonObjectSchema,
  annotations: jsonObjectSchema.optional(),
})

export async function listTools(channel: Channel, signal: AbortSignal): Promise<ListedTool[]> {
  const listed = wellFormed(await listAll(channel, 'tools/list', 'tools', signal))
  return read(z.array(listedToolSchema), listed, 'tools/list')
}
