import { connect } from 'node:net'
import { EnvError } from '../env-error.ts'
import type { OpenWire } from './wire.ts'

/** The address of a socket. */
export type SocketPlace = { readonly path: string } | { readonly host: string; readonly port: number }

/** The most UTF-16 units of a message from a server. */
const LONGEST = 64 * 1_048_576
/** Milliseconds until a connection attempt fails. */
const CONNECT_TIMEOUT = 30_000

/** Opens a connection of newline-framed messages, over a Unix socket or TCP. */
export function openSocketWire(place: SocketPlace, name: string): OpenWire {
  return ({ onMessage, onClose }) =>
    new Promise((resolve, reject) => {
      const socket = connect({ ...place, noDelay: true })
      let connected = false
      let reason = 'it hung up.'
      let held = ''
      const giveUp = (why: string) => {
        reason = why
        socket.destroy()
      }
      socket.setEncoding('utf8')
      socket.setTimeout(CONNECT_TIMEOUT, () => giveUp('it does not answer.'))
      socket.on('connect', () => {
        connected = true
        socket.setTimeout(0)
        resolve({
          send: (messages) => void socket.write(`${messages.join('\n')}\n`),
          close: () => void socket.destroySoon(),
        })
      })
      socket.on('data', (text: string) => {
        const end = text.lastIndexOf('\n')
        if (end < 0) held += text
        else {
          for (const line of (held + text.slice(0, end)).split('\n')) onMessage(line)
          held = text.slice(end + 1)
        }
        if (held.length > LONGEST) giveUp('it sends a message that is too long.')
      })
      socket.on('error', ({ message }) => {
        reason = message
      })
      socket.on('close', () => {
        const what = connected ? `The connection to ${name} is lost` : `Cannot connect to ${name}`
        const error = new EnvError('connection-failed', `${what}: ${reason}`)
        if (connected) onClose({ error, tooLarge: false })
        else reject(error)
      })
    })
}
