import type { TrainerSessionRef } from '@episodic/mcp-server'
import type { EnvironmentInfo } from '@episodic/protocol'

/** Resolves with an environment that has the tools alone which the player of a session has now. */
export async function offeredInfo(
  info: EnvironmentInfo,
  session: TrainerSessionRef | undefined,
): Promise<EnvironmentInfo> {
  const offered = info.offers && (await session?.observe())?.tools
  return offered ? { ...info, tools: info.tools.filter(({ name }) => offered.includes(name)) } : info
}
