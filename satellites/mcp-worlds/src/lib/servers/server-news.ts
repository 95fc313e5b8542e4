import type { Json } from '@episodic/protocol'
import { isObject, shorten } from '@episodic/protocol/internal'

/** Characters of instructions that are kept, and of a report. */
const LONGEST_INSTRUCTIONS = 20_000
const LONGEST_REPORT = 300

export class ServerNews {
  /** How it is to be used, as it said at its start; empty if it said nothing. */
  instructions = ''
  onProgress: ((text: string) => void) | undefined
  #hasOtherTools = false

  receive(message: unknown): void {
    const { method, params = {}, result } = message as { readonly [part: string]: Json | undefined }
    if (isObject(result) && typeof result.instructions === 'string')
      this.instructions = result.instructions.slice(0, LONGEST_INSTRUCTIONS).toWellFormed().trim()
    if (method === 'notifications/tools/list_changed') this.#hasOtherTools = true
    if (method !== 'notifications/progress' || !isObject(params)) return
    const { progress, total, message: said } = params
    const part = typeof total === 'number' ? `${progress} of ${total}` : `${progress}`
    this.onProgress?.(typeof said === 'string' ? `${shorten(said, LONGEST_REPORT)} (${part})` : part)
  }

  takeChangeOfTools(): boolean {
    const has = this.#hasOtherTools
    this.#hasOtherTools = false
    return has
  }
}
