/** One line of a JSONL file. */
export interface Line {
  /** Counted from 1. */
  readonly line: number
  /** Without its newline. Bytes that are not UTF-8 read as U+FFFD, which content ids and seals then detect. */
  readonly text: string
  /** The file ends here without a newline, so a writer may have been stopped in the middle of the line. */
  readonly torn: boolean
}
