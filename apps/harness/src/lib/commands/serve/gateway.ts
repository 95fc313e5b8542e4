import { createEngine } from '@episodic/models/gateway/engine'
import { openGateway } from '@episodic/models/gateway/gateway-server'
import { openGatewaySessions } from '@episodic/models/gateway/gateway-sessions'
import { baseUrlSchema } from '@episodic/models/model-options'
import { accessOptions } from '@episodic/play/worlds/serve/access-options'
import { controlTokens } from '@episodic/play/worlds/serve/server-secrets'
import { stopped } from '@episodic/play/worlds/serve/stop'
import { type Console, colorsOf } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { modelOption, modelOptionSchema } from '@episodic/run/folder/plan/plan-options'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const gatewayOptions = z.object({
  baseUrl: option('<url>', 'engine that agents reach, with the API of chat completions', baseUrlSchema.optional()),
  modelOption: option(
    '<name=json>',
    'field of every request, in the place of what agents ask, as top_p=1; null takes one out; repeatable',
    modelOptionSchema.optional(),
    { text: modelOption },
  ),
  apiKeyEnv: option('<name>', 'variable with the key of the engine', z.string().min(1).default('OPENAI_API_KEY')),
  port: option('<port>', 'port to listen on; 0 for a free one', wholeNumber(0, 65_535).default(7338)),
  address: option(
    '<address>',
    'address to listen on; a wildcard requires --allow-host',
    z.string().default('127.0.0.1'),
  ),
  allowHost: accessOptions.shape.allowHost,
  json: flag('print one line of JSON when it listens, and stop when standard input ends'),
})
type GatewayFlags = z.infer<typeof gatewayOptions>

export const command = defineCommand('gateway', gatewayOptions, {
  argument: ['<folder>', 'where sessions and answers are kept; a restart goes on with them'],
  help: `
Examples:
  episodic gateway tokens --base-url http://127.0.0.1:8000/v1
  episodic gateway tokens --base-url http://127.0.0.1:30000/v1 --model-option top_p=1

EPISODIC_CONTROL_TOKEN sets the token that trainers send to open and read
sessions. By default it is random, and kept in a file that is printed.`,
  run: serveGateway,
})

async function serveGateway(folder: string, options: GatewayFlags, console: Console): Promise<void> {
  const { port, address, allowHost: allowedHosts = [], apiKeyEnv, modelOption: fields = {}, json } = options
  const { EPISODIC_CONTROL_TOKEN, OPENAI_BASE_URL, [apiKeyEnv]: apiKey } = process.env
  const baseUrl = options.baseUrl ?? OPENAI_BASE_URL
  if (baseUrl === undefined || !URL.canParse(baseUrl))
    throw invalidOption('No engine is named. Give --base-url, or set OPENAI_BASE_URL to its URL.')
  using engine = createEngine({ baseUrl, apiKey, options: fields })
  using sessions = await openGatewaySessions(folder, engine)
  const stop = stopped(json === true)
  const controlToken = EPISODIC_CONTROL_TOKEN || undefined
  await using gateway = await openGateway({ sessions, port, address, allowedHosts, controlToken })
  try {
    const tokenFile = await controlTokens.write(gateway.port, gateway.controlToken)
    const { bold, cyan, dim } = colorsOf(console.out)
    console.out.write(
      json
        ? `${JSON.stringify({ url: gateway.url, tokenFile })}\n`
        : `${bold('Gateway')} before ${baseUrl}\n\n  open sessions by POST ${cyan(`${gateway.url}/sessions`)}   ${dim(`control token in ${tokenFile}`)}\n`,
    )
    await stop
  } finally {
    controlTokens.remove(gateway.port)
    process.stdin.pause()
  }
}
