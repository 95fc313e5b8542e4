import type { JsonObject } from '@episodic/protocol'

/** The state of a world: the part that players may see, and the part that they may not. */
export interface SessionState {
  readonly public: JsonObject
  /** What each seat alone may see; omitted if there is one seat. */
  readonly own?: { readonly [seat: string]: JsonObject }
  readonly private: JsonObject
}
