import type { Program, ProgramContext, Service } from '@episodic/workspace'
import {
  type Checkout,
  checkout,
  configFile,
  logFile,
  logLine,
  runningFile,
  SERVICES,
  type ServiceName,
  settingsIn,
} from './machine.ts'

// Loaded by the threads in which commands run.

/** Milliseconds that a service needs to start. */
const START = 4_000

export const commands: Readonly<Record<string, Program>> = {
  services: ({ disk }) =>
    SERVICES.map((service) => `${service.padEnd(7)} ${disk.read(runningFile(service)) ? 'runs' : 'stopped'}\n`).join(
      '',
    ),
  restart(call) {
    const service = SERVICES.find((name) => name === call.args[0])
    if (!service) return { stderr: `usage: restart ${SERVICES.join('|')}\n`, exitCode: 2 }
    const text = call.disk.read(configFile(service))
    const settings = settingsIn(text, service)
    if (typeof settings === 'string')
      return { stderr: `restart: ${configFile(service)}: ${settings}. ${service} was not restarted.\n`, exitCode: 1 }
    call.sleep(START)
    call.disk.write(runningFile(service), text as string)
    log(call, service, 'info', 'started')
    return `${service} was restarted.\n`
  },
}

export const services: Readonly<Record<string, Service>> = {
  'http://web.internal': ({ path }, context) => {
    if (path !== '/checkout') return { status: 404, body: { error: 'There is /checkout.' } }
    const answer = checkout(context.disk.read)
    if (!isFailed(answer)) {
      log(context, 'web', 'info', 'order accepted')
      return { order: 'accepted' }
    }
    log(context, answer.service, 'error', answer.cause)
    return { status: answer.status, body: { error: `The order failed. See ${logFile(answer.service)}.` } }
  },
}

function isFailed(answer: Checkout): answer is Exclude<Checkout, { status: 200 }> {
  return 'cause' in answer
}

function log({ disk, now }: ProgramContext, service: ServiceName, level: 'info' | 'error', text: string): void {
  disk.write(logFile(service), `${disk.read(logFile(service)) ?? ''}${logLine(now, level, text)}`)
}
