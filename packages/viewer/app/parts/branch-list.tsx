import type { ComponentChildren } from 'preact'

export interface BranchNode {
  readonly content: ComponentChildren
  readonly next: readonly BranchNode[]
}

/** Ways of play that share their first part: a list within a list where they part. */
export function BranchList({ nodes }: { readonly nodes: readonly BranchNode[] }) {
  return (
    <ul>
      {nodes.map(({ content, next }, i) => (
        <li key={i}>
          {content}
          {next.length > 0 && <BranchList nodes={next} />}
        </li>
      ))}
    </ul>
  )
}
