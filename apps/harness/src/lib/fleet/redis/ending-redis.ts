import { Redis, type RedisOptions } from 'ioredis'

/** With the replies of RESP2, as by default. */
export type LegacyOptions = RedisOptions & { replyMapping?: 'legacy' }

/**
 * A client that always ends when it is disconnected. One of ioredis that waits until it may connect again would not, and what
 * waits for its answers would wait for ever.
 */
export class EndingRedis extends Redis {
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
}
