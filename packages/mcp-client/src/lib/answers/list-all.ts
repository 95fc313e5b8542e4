import { type Channel, type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { McpError } from '../mcp-error.ts'

/** The most pages of a list that are read, in case a server never stops paging. */
const PAGES = 100

/** Returns the items of a list on all of its pages. Rejects for what is none, and for more than 100 pages. */
export async function listAll(
  channel: Channel,
  method: string,
  key: string,
  signal?: AbortSignal,
): Promise<JsonObject[]> {
  const pageSchema = z.object({ [key]: z.array(jsonObjectSchema), nextCursor: z.string().optional() })
  const items: JsonObject[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const reply = await channel.request(method, cursor === undefined ? {} : { cursor }, { signal })
    const parsed = pageSchema.safeParse(reply)
    if (!parsed.success)
      throw new McpError('malformed', `The server's answer to ${method} is no page of ${key}.`, { cause: parsed.error })
    const { nextCursor, ...listed } = parsed.data as { readonly nextCursor?: string }
    items.push(...((listed as Record<string, JsonObject[]>)[key] ?? []))
    if (nextCursor === undefined) return items
    cursor = nextCursor
  }
  throw new McpError('malformed', `The server has more than ${PAGES} pages of ${method}.`)
}
