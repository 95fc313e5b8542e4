import type { Disk, ReadOnlyDisk } from '../disk/disk.ts'
import type { DiskAccess } from '../disk/edited-disk.ts'
import type { ShellTask } from '../shell/run-shell.ts'
import type { OpenStatement } from '../sql/open-statement.ts'
import type { JobResult } from './job-result.ts'

/** A disk as a thread gets it: whole if it is small, else its first page, with the pages that the thread lacks. */
export type SentDisk =
  | { readonly plain: ReadOnlyDisk }
  | { readonly page: string; readonly pages: readonly (readonly [name: string, text: string])[] }

export type Task =
  | ({ readonly kind: 'shell'; readonly script: string } & ShellTask)
  | {
      readonly kind: 'sql'
      readonly database: string
      readonly sql: string
      readonly transaction: readonly OpenStatement[]
    }

export interface Job {
  readonly access: DiskAccess
  /** Milliseconds since 1970. */
  readonly now: number
  readonly seed: readonly [number, number]
  /** Files that are on the disk for this job alone. */
  readonly files: Disk
  readonly task: Task
}

export interface ToThread {
  readonly job: Job
  readonly disk: SentDisk
}

/** What a thread sends: that it is ready, what a job has done, or why it could not do one. */
export type FromThread =
  | { readonly kind: 'ready' }
  | (JobAnswer & {
      /** Bytes that the thread still holds outside of its objects: buffers, and memory of WebAssembly. */
      readonly held: number
    })

export type JobAnswer =
  | { readonly kind: 'done'; readonly result: JobResult }
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string }
