import { type ToolInfo, WireError } from '@episodic/protocol'
import { WIRE_ERROR_NUMBERS } from '@episodic/protocol/internal'

/** Returns a tool as `tools/list` shows it, in both protocol versions. */
export function toolOnTheWire({ name, description, inputSchema, outputSchema, annotations }: ToolInfo) {
  return {
    name,
    description,
    inputSchema: inputSchema as { type: 'object' },
    ...(outputSchema && { outputSchema: outputSchema as { type: 'object' } }),
    ...(annotations && { annotations }),
  }
}

/** Runs a handler of an MCP SDK and rethrows a `WireError` with its number, which is all that the SDK understands. */
export function numbered<T>(answer: () => T): T {
  try {
    return answer()
  } catch (error) {
    if (!WireError.is(error)) throw error
    throw Object.assign(new Error(error.message), { code: WIRE_ERROR_NUMBERS[error.code] })
  }
}
