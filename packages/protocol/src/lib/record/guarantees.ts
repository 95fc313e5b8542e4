/** What a connection promises about its episodes, which depends on the system that its server belongs to. */
export interface Guarantees {
  /** `mcp`: an MCP server whose tools are a world; in older records one without, and `replay` is false. */
  readonly system: 'episodic' | 'mcp' | 'ors' | 'openenv'
  /** Whether a recorded episode can be replayed from its seed and its actions. */
  readonly replay: boolean
  /** How often an action takes effect whose answer is lost. `at-most-once`: it is not sent again; the episode fails. */
  readonly delivery: 'exactly-once' | 'at-most-once'
  /** `decides`: all chance comes from it. `passed-on`: the server may use it. `ignored`: the protocol has no seed. */
  readonly seed: 'decides' | 'passed-on' | 'ignored'
}
