import type { Channel, JsonObject } from '@episodic/protocol'
import type { CallOptions } from '../session/call-options.ts'
import { disconnectPreservingSessions, openChannel } from '../transport/open-channel.ts'
import { type ExternalEnvironment, type ExternalSetting, runRule } from './external-environment.ts'

/** The server of one episode: its own process or MCP session. */
export interface EpisodeServer {
  readonly channel: Channel
  /** What `target` handed on. */
  readonly context: unknown
  /** Stops the server, then runs the deferred clean-ups, last first. Safe to call twice. */
  close(): Promise<void>
}

/** Starts the server of one episode. If that fails, runs the deferred clean-ups. */
export async function openEpisodeServer(
  { target }: ExternalEnvironment,
  setting: ExternalSetting<JsonObject>,
  options: CallOptions,
): Promise<EpisodeServer> {
  const undo: (() => void | Promise<void>)[] = []
  const defer = (step: () => void | Promise<void>) => {
    undo.push(step)
  }
  try {
    const chosen =
      typeof target === 'function' ? await runRule('target', options, () => target({ ...setting, defer })) : target
    const { server, context } =
      typeof chosen === 'object' && 'server' in chosen ? chosen : { server: chosen, context: undefined }
    const channel = await openChannel(server, { ...options, ...disconnectPreservingSessions(server) })
    defer(() => channel.close())
    let closed: Promise<void> | null = null
    return {
      channel,
      context,
      close() {
        closed ??= undoAll(undo)
        return closed
      },
    }
  } catch (error) {
    // The reason why the server did not start is the error to report.
    await undoAll(undo).catch(() => {})
    throw error
  }
}

async function undoAll(undo: readonly (() => void | Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of undo.toReversed()) {
    try {
      await step()
    } catch (cause) {
      failures.push(cause)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'The server of an episode could not be cleaned up.')
}
