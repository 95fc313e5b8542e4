import type { JsonObject } from '@episodic/protocol'

/** What a server claims about a tool. A claim, and no promise: believe it of a server that you trust. */
export interface ToolAnnotations {
  readonly title?: string | undefined
  /** It changes nothing. */
  readonly readOnlyHint?: boolean | undefined
  /** It may destroy something. */
  readonly destructiveHint?: boolean | undefined
  /** Calling it again with the same arguments changes nothing more. */
  readonly idempotentHint?: boolean | undefined
  /** It reaches outside of the server. */
  readonly openWorldHint?: boolean | undefined
}

/** A tool of a server, as the server lists it. */
export interface SessionTool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its arguments. */
  readonly inputSchema: JsonObject
  /** The JSON Schema of its structured content, where it declares one. */
  readonly outputSchema: JsonObject | null
  readonly annotations: ToolAnnotations
}

/** Says whether a tool claims that calling it twice does no more than calling it once. */
export function claimsRepeatable({ annotations }: SessionTool): boolean {
  return annotations.readOnlyHint === true || annotations.idempotentHint === true
}
