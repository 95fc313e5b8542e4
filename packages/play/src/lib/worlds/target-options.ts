import { textOrFile } from '@episodic/run/base/option-values'
import { option } from '@episodic/run/base/options'
import { z } from 'zod'

export interface Servers {
  readonly pattern: RegExp
  readonly shown: string
}
export const OWN_SERVERS: Servers = { pattern: /^(https?|wss?):/, shown: 'http://… or ws://…' }
/** And those of other systems, whose environments can be played. */
export const PLAYED_SERVERS: Servers = {
  pattern: /^(wss?|((ors|openenv):)?https?):/,
  shown: 'http://…, ws://…, openenv:http://… or ors:http://…',
}

export function targetOptions({ shown }: Servers = OWN_SERVERS) {
  return z.object({
    url: option('<url>', `a server to connect to: ${shown}`),
    token: option(
      '<token>',
      'its bearer token, or @<file> with it (default: EPISODIC_TOKEN, or the token file of a local server)',
      z.string().optional(),
      { text: textOrFile },
    ),
    config: option('<file>', 'an mcpServers JSON file'),
    server: option('<name>', 'the server of that file to use'),
  })
}
export type TargetOptions = z.infer<ReturnType<typeof targetOptions>>
