/** One line of a JSONL file. */
export interface JsonLine {
  /** Counted from 1. */
  readonly line: number
  /** Without its newline. Bytes that are not UTF-8 are read as U+FFFD, which content ids and seals detect. */
  readonly text: string
  /** Whether the file ends here without a newline: the writer may have been stopped in the middle of the line. */
  readonly torn: boolean
}
