import type { Host } from '@episodic/mcp-server'

/** An agent's connection to a server. Answers are raw: headers and status lines included. */
export interface EndpointSession {
  /** Sends a text, valid message or not, and resolves with every byte of the answer. */
  send(message: string): Promise<string>
  /**
   * Starts to collect notifications. Resolves with a function that stops and resolves with what was received: an empty
   * text if notifications share the channel of the answers, because `send` has returned them already.
   */
  collectNotifications(): Promise<() => Promise<string>>
  /** Requests other than messages, by name: other HTTP methods, paths and headers. */
  readonly unusualRequests: Readonly<Record<string, () => Promise<string>>>
  close(): Promise<void>
}

/** An agent endpoint that serves a host. Disposing of it leaves the host open. */
export interface OpenEndpoint extends AsyncDisposable {
  openSession(capability: string): Promise<EndpointSession>
  readonly sendAsTrainer?: (message: string) => Promise<string>
}

/** A transport between agents and a host. */
export interface AgentEndpoint {
  readonly name: string
  open(host: Host): Promise<OpenEndpoint>
}
