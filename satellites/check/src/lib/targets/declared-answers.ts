import type { Observation, ToolInfo } from '@episodic/protocol'
import { z } from 'zod'

const read = new WeakMap<ToolInfo, z.ZodType | null>()

/** Returns what of an answer is not as its tool declares it; `null` if it is, or if nothing is declared. */
export function undeclaredIn(tools: readonly ToolInfo[], name: string, { structured }: Observation): string | null {
  const tool = tools.find((one) => one.name === name)
  if (!tool?.outputSchema || structured === null) return null
  if (!read.has(tool)) read.set(tool, schemaIn(tool.outputSchema))
  const error = read.get(tool)?.safeParse(structured).error
  return error ? `${name} answers otherwise than it declares: ${z.prettifyError(error)}` : null
}

/** Returns `null` for a schema that says what zod cannot. */
function schemaIn(schema: NonNullable<ToolInfo['outputSchema']>): z.ZodType | null {
  try {
    return z.fromJSONSchema(schema)
  } catch {
    return null
  }
}
