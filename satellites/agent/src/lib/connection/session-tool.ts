import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

/** What a server claims about a tool. Rely on it only for a server that you trust. */
export interface ToolAnnotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  /** It may destroy something. */
  readonly destructiveHint?: boolean | undefined
  /** Calling it again with the same arguments changes nothing more. */
  readonly idempotentHint?: boolean | undefined
  /** It has effects outside the server. */
  readonly openWorldHint?: boolean | undefined
}

/** A tool of a server, as the server lists it. */
export interface SessionTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** The JSON Schema of its structured content; `null` if it declares none. */
  readonly outputSchema: JsonObject | null
  readonly annotations: ToolAnnotations
}

export function readTool({ name, description = '', inputSchema, outputSchema, annotations }: JsonObject): SessionTool {
  return {
    name: String(name),
    description: String(description),
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    outputSchema: isObject(outputSchema) ? outputSchema : null,
    annotations: isObject(annotations) ? annotations : {},
  }
}

/** Whether a tool claims that repeating a call has no further effect. */
export function claimsRepeatable({ annotations }: SessionTool): boolean {
  return annotations.readOnlyHint === true || annotations.idempotentHint === true
}
