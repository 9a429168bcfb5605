/** The disk operations of a process, in order, as far as a power cut can undo them. */
export type DiskOperation =
  /** Creates a file with that name. */
  | { readonly op: 'create'; readonly path: string; readonly file: string }
  | { readonly op: 'write'; readonly file: string; readonly at: number; readonly base64: string }
  | { readonly op: 'truncate'; readonly file: string; readonly size: number }
  | { readonly op: 'rename'; readonly from: string; readonly to: string }
  | { readonly op: 'link'; readonly from: string; readonly to: string }
  | { readonly op: 'unlink'; readonly path: string }
  | { readonly op: 'mkdir'; readonly path: string }
  /** Syncs the content of a file after the first `upTo` operations. */
  | { readonly op: 'sync'; readonly file: string; readonly upTo: number }
  /** Syncs the names in a folder. */
  | { readonly op: 'syncFolder'; readonly path: string; readonly upTo: number };

/** The parameters of the recording process, in the variable `CINNABAR_POWERCUT`. */
export interface RecorderOrders {
  /** The folder that is recorded. */
  readonly root: string;
  /** The file for the operations, one line of JSON each. */
  readonly log: string;
  /** Number of operations after which the power is cut; default: never. */
  readonly cutAfter?: number;
}

/** The id of a file that existed before the first operation. */
export const fileBefore = (path: string): string => `before:${path}`;
