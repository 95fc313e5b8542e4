import type { McpError } from '../mcp-error.ts'

/** One connection that carries messages as texts, in both directions. */
export interface Wire {
  /** Sends messages, with as few writes as the connection allows. */
  send(messages: readonly string[]): void
  close(): void
}

export interface WireListener {
  onMessage(text: string): void
  /** Called once, when either side has ended the connection. */
  onClose(closing: WireClosing): void
}

export interface WireClosing {
  /** A `lost` that says why. */
  readonly error: McpError
  /** The other end could not take a message because of its size. */
  readonly tooLarge: boolean
}

/** Opens a connection. Rejects with `lost`. */
export type OpenWire = (listener: WireListener) => Promise<Wire>
