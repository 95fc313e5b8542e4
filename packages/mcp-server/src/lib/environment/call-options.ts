/** The other side of a call that has to wait: for its turn, for what its tool prepares, or for a thread. */
export interface CallOptions {
  /**
   * Aborted when nobody wants the answer any more. Made when it is first asked for, because it costs as much as a small
   * call: ask for it where a call waits, and not before.
   */
  readonly signal: AbortSignal
  /** Says what the call waits for. `undefined` where nobody asked to be told. */
  readonly report: ((message: string) => void) | undefined
}
