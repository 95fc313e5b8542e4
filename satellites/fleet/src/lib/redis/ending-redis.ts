import { setTimeout as pause } from 'node:timers/promises'
import { type Command, Redis, type RedisOptions } from 'ioredis'

/** With the replies of RESP2, as by default. */
export type LegacyOptions = RedisOptions & { replyMapping?: 'legacy' }

/** The answer of a Redis that takes no writes now: its memory is full, its disk is, or its replicas are gone. */
const TAKES_NO_WRITES = /\b(OOM|MISCONF|NOREPLICAS) /
/** Milliseconds before a write is sent again. */
const WRITE_PAUSE = 500

/**
 * A client that always ends when it is disconnected. One of ioredis that waits until it may connect again would not,
 * and what waits for its answers would wait for ever.
 *
 * It waits for a Redis that takes no writes as for one that does not answer: it sends them again, with the events
 * `full` and `writable`.
 */
export class EndingRedis extends Redis {
  #waitsToWrite = true

  override disconnect(reconnect = false): void {
    const isWaiting = this.status === 'reconnecting'
    super.disconnect(reconnect)
    if (!isWaiting || reconnect) return
    // A connection that is given up while it begins rejects all commands.
    void this.connect().catch(() => {})
    super.disconnect()
  }

  override duplicate = ((override?: Partial<RedisOptions>) =>
    new EndingRedis(Object.assign({}, this.options, override) as LegacyOptions)) as Redis['duplicate']

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const { reject, resolve } = command
    // The commands of a transaction are answered together: they are tried again by those who know what they do.
    if (command.pipelineIndex === undefined && !command.inTransaction)
      command.reject = (error) => {
        if (!this.#isToWaitFor(error)) return reject(error)
        command.resolve = (answer) => {
          this.emit('writable')
          resolve(answer)
        }
        setTimeout(() => super.sendCommand(command), WRITE_PAUSE)
      }
    return super.sendCommand(command, stream)
  }

  async write<T>(transaction: () => Promise<T>): Promise<T> {
    for (;;)
      try {
        return await transaction()
      } catch (error) {
        if (!this.#isToWaitFor(error)) throw error
        await pause(WRITE_PAUSE)
      }
  }

  /** From now on, a write that Redis does not take rejects. */
  stopWaitingToWrite(): void {
    this.#waitsToWrite = false
  }

  #isToWaitFor(error: unknown): boolean {
    if (!this.#waitsToWrite || this.status === 'end' || !TAKES_NO_WRITES.test((error as Error).message)) return false
    this.emit('full')
    return true
  }
}
