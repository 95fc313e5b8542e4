export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

/** An object of a repository. */
export interface GitObject {
  readonly type: ObjectType
  readonly data: string
}
