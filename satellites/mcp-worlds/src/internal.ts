/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { RecordingWriter } from './lib/recording/recording-writer.ts'
