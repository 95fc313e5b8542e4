import { WireError } from '@episodic/protocol'
import { WIRE_ERROR_NUMBERS } from '@episodic/protocol/extend'

/** Runs what answers a request for an MCP SDK, which understands a refusal by its number alone. */
export function numbered<T>(answer: () => T): T {
  try {
    return answer()
  } catch (error) {
    if (!WireError.is(error)) throw error
    throw Object.assign(new Error(error.message), { code: WIRE_ERROR_NUMBERS[error.code] })
  }
}
