import type { Host } from '@episodic/mcp-server'

/** An agent's talk with a server, as everything that comes back: headers, status lines and all. */
export interface Conversation {
  /** Sends one message, which need not be one, and gives every byte that came back for it. */
  say(message: string): Promise<string>
  /**
   * Receives from now on what the server sends unasked, such as notifications. The function that it resolves with ends this
   * and gives what came, and nothing where the answers of `say` have it already, because both share one channel.
   */
  listen(): Promise<() => Promise<string>>
  /** What can be asked at this door besides messages, by name: other methods, paths and headers. */
  readonly oddities: Readonly<Record<string, () => Promise<string>>>
  close(): Promise<void>
}

/** A door for agents that is open. Disposing of it closes it, and leaves the host alone. */
export interface OpenDoor extends AsyncDisposable {
  /** Begins to talk: as the agent of a capability, or as a plain client that gets a world of its own. */
  converse(capability: string | null): Promise<Conversation>
}

/** A way by which an agent reaches a host. */
export interface AgentDoor {
  readonly name: string
  open(host: Host): Promise<OpenDoor>
}
