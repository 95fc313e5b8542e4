/** For a call that may have to wait: for earlier calls, or for `prepare`. */
export interface CallOptions {
  /**
   * Aborted when no client waits for the answer any more. It may be a getter that creates the signal on first access,
   * which costs as much as a small call: read it only when the call waits.
   */
  readonly signal: AbortSignal
  /** Aborted when a waiting call should be answered early: a client gone, a shutdown. A getter. Default: never. */
  readonly stopping?: AbortSignal | undefined
  /** Reports what the call waits for; `undefined` if the client did not ask for progress. */
  readonly report: ((message: string) => void) | undefined
  /** Gets what `prepare` reports, in place of `report`. */
  readonly onPrepareReport?: ((message: string) => void) | undefined
}
