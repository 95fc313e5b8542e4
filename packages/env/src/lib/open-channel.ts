import type { Channel } from '@episodic/protocol'
import { EnvError } from './env-error.ts'
import type { ChannelOptions, CommandTarget, HttpTarget, Target } from './target.ts'

/**
 * Opens the channel of a target: bare requests to any MCP server, for what an `Environment` is not for. What needs Node
 * is loaded only where a target asks for it. Rejects with `target-invalid` and `connection-failed`.
 */
export async function openChannel(target: Target, options: ChannelOptions = {}): Promise<Channel> {
  const given: Channel | HttpTarget | CommandTarget | null = typeof target === 'string' ? { url: target } : target
  if (typeof given === 'object' && given !== null) {
    if ('request' in given) return given
    if ('command' in given || ('url' in given && isHttpUrl(given.url))) {
      const { openSdkChannel } = await import('./sdk-channel.ts')
      return openSdkChannel(given, options)
    }
  }
  throw new EnvError(
    'target-invalid',
    `Cannot connect to ${JSON.stringify(target)}. Give an http(s) URL, a command, an mcpServers entry, or a channel.`,
  )
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
