import type { JsonObject } from './json.ts'

/**
 * One way to a server: requests go in, results come out. A client plays over it and never asks what it is made of
 * (HTTP, a child process, or a host in the same process).
 *
 * `request` resolves with the result of the call. It rejects with a `WireError` where the server answered with an
 * error, and with another error where no answer came (the transport failed, or `signal` was aborted).
 * Requests may be made concurrently. `close` releases what the channel holds and is safe to call twice.
 */
export interface Channel {
  request(method: string, params: JsonObject, options?: { readonly signal?: AbortSignal | undefined }): Promise<unknown>
  close(): Promise<void>
}
