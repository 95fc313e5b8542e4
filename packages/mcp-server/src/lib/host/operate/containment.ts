/** A call of an environment's code, to which what it left behind can be traced back. */
export interface ContainedCall {
  readonly environment: string
  readonly session: string
  /** Called with what was thrown after the call had returned: by a timer, or by a promise that is not awaited. */
  escaped(thrown: unknown): void
}

/**
 * Runs environments' code in such a way that what it leaves behind and fails later fails one session, and not the
 * process.
 *
 * The root of this package reaches for no process, so a host that wants this is given it: `containProcess` of
 * `@episodic/mcp-server/process` makes one for Node.
 */
export interface Containment {
  /** Runs `run` at once and returns what it returns. What it starts and does not wait for belongs to `call`. */
  run<T>(call: ContainedCall, run: () => T): T
}

/** What failed in the process and belongs to no call of an environment's code. */
export interface Stray {
  /** `rejection`: an unhandled rejection of a promise. `exception`: an uncaught exception. */
  readonly kind: 'rejection' | 'exception'
  readonly cause: unknown
}
